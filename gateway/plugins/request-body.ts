import { isUtf8 } from 'node:buffer';
import type { FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import type { GatewayApp } from '../gateway-app.ts';
import { idempotencyKeyOf } from '../http/idempotency-key.ts';
import { repeatedMember } from '../http/json-members.ts';
import { MAX_POINTER_SHOWN, Problem } from '../problems/problem.ts';

export const BODY_LIMIT_BYTES = 64 * 1024;

/** More than any body needs. Validation recurses into values, so the depth of one must be bounded. */
const MAX_DEPTH = 32;

/** Allows empty parameters and charset=utf-8. */
const JSON_TYPE = /^application\/json[ \t]*(;[ \t]*(charset=("utf-?8"|utf-?8)[ \t]*)?)*$/i;

type Hook = (request: FastifyRequest, reply: unknown, done: HookHandlerDoneFunction) => void;

/** Reads bodies as bytes up to the limit; each route parses them at its place in the API's order of checks. */
export function readBodies(app: GatewayApp): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}

/** onRequest hook of routes with a JSON body. UNSUPPORTED_MEDIA_TYPE, before any of the body is read. */
export const requireJson: Hook = ({ headers }, _reply, done) => {
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) {
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', 'Header Content-Type must be application/json, in UTF-8.');
  }
  if (!/^(identity)?$/i.test(headers['content-encoding'] ?? '')) {
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent without Content-Encoding.');
  }
  done();
};

/** preValidation hook of routes that create: reads the Idempotency-Key before the body is parsed. */
export const requireIdempotencyKey: Hook = (request, _reply, done) => {
  request.idempotencyKey = idempotencyKeyOf(request.raw);
  done();
};

/** preValidation hook of routes with a JSON body: parses the bytes. INVALID_REQUEST. */
export const parseJson: Hook = (request, _reply, done) => {
  const bytes = request.body;
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) {
    throw new Problem('INVALID_REQUEST', 'The body must be a JSON object.');
  }
  if (!isUtf8(bytes)) throw new Problem('INVALID_REQUEST', 'The body must be UTF-8.');
  const text = bytes.toString();
  try {
    request.body = JSON.parse(text);
  } catch {
    throw new Problem('INVALID_REQUEST', 'The body must be well-formed JSON.');
  }
  if (isNestedDeeper(request.body, MAX_DEPTH)) {
    throw new Problem('INVALID_REQUEST', `The body must not be nested more than ${MAX_DEPTH} levels deep.`);
  }
  const repeated = repeatedMember(text);
  if (repeated !== undefined) {
    throw new Problem('INVALID_REQUEST', `${repeated.slice(0, MAX_POINTER_SHOWN)} must not be repeated.`);
  }
  done();
};

/** Whether objects and arrays are nested more than `depth` deep. */
const isNestedDeeper = (value: unknown, depth: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (depth === 0 || Object.values(value).some((member) => isNestedDeeper(member, depth - 1)));

/** preValidation hook of routes without a body. Fastify does not read the body of a GET, so its headers are checked. */
export const rejectBody: Hook = (request, _reply, done) => {
  const { headers, body, method } = request;
  const announced = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  const received = Buffer.isBuffer(body) && body.length > 0;
  if (received || (method !== 'POST' && announced)) {
    throw new Problem('INVALID_REQUEST', 'This operation takes no body.');
  }
  request.body = undefined;
  done();
};
