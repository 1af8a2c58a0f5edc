"""Errors as answers, all in one shape: `{"error": {"code", "message", "details"}}`."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from api.errors import InvalidRequest, NotAvailable, RequestError
from config.logging import get_logger
from sidestream.api_models import ErrorBody, ErrorResult
from store.errors import StoreBusy, StoreError

log = get_logger("api")


def error_answer(
    status: int,
    code: str,
    message: str,
    details: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """An error as an answer."""
    body = ErrorResult(error=ErrorBody(code=code, message=message, details=dict(details or {})))
    return JSONResponse(body.model_dump(), status_code=status, headers=dict(headers or {}))


def error_response(error: RequestError) -> JSONResponse:
    """One of our errors as an answer."""
    return error_answer(error.status, error.code, str(error), error.details, error.headers)


def install(app: FastAPI) -> None:
    """Makes every error of the app one of these answers."""
    app.add_exception_handler(RequestError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(StoreError, _store)
    app.add_exception_handler(Exception, _unexpected)


async def _ours(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestError)
    return error_response(error)


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    fields = [{"field": ".".join(map(str, e["loc"])), "message": e["msg"]} for e in error.errors()]
    message = "; ".join(f"{f['field']}: {f['message']}" for f in fields)
    return error_answer(422, InvalidRequest.code, message, {"fields": jsonable_encoder(fields)})


async def _http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
    return error_answer(error.status_code, code, str(error.detail), headers=error.headers)


async def _store(_: Request, error: Exception) -> JSONResponse:
    log.error("database_failed", reason=f"{type(error).__name__}: {error}")
    wait = {"Retry-After": "1"} if isinstance(error, StoreBusy) else {}
    message = f"the database cannot answer: {type(error).__name__}"
    return error_answer(503, NotAvailable.code, message, headers=wait)


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("request_failed", method=request.method, path=request.url.path, exc_info=error)
    return error_answer(500, RequestError.code, "something went wrong here; the server's log says what")
