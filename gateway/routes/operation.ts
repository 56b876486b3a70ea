import type { FastifySchema } from 'fastify';
import type { TSchema } from 'typebox';
import type { ApiKeyScopeName } from '../../services/platform/api-key-scopes.ts';
import type { Access } from '../auth/access.ts';
import type { Deprecation } from '../plugins/deprecation.ts';
import { parseJson, refuseBody, requireIdempotencyKey, requireJson } from '../plugins/request-body.ts';
import type { PlainCode, ProblemCode } from '../problems/problem-types.ts';

/** Errors by their codes, each with an example of its detail, or with true where that is always the same. */
export type OperationErrors = {
  readonly [Code in ProblemCode]?: Code extends PlainCode ? true : string;
};

/**
 * The schema of a route of the public API: what is validated and serialised by it, who may call it, and what the
 * documentation says of it.
 */
export interface OperationSchema extends FastifySchema {
  readonly operationId: string;
  readonly scope: ApiKeyScopeName;
  readonly summary: string;
  /** In Markdown. */
  readonly description: string;
  readonly tags: readonly string[];
  /** That and when it will be taken away: in the document and in the headers of every answer. */
  readonly deprecation?: Deprecation;
  readonly params?: TSchema;
  readonly querystring: TSchema;
  /** JSON. Where there is none, a body is refused. */
  readonly body?: TSchema;
  /** Whether an Idempotency-Key is required. */
  readonly idempotent?: true;
  /** What a success answers, in a sentence. */
  readonly answers: string;
  /** The success, by its status. */
  readonly response: Readonly<Record<number, TSchema>>;
  /** Whether the success names where the new resource is. */
  readonly location?: true;
  /** Links from the success to operations, as OpenAPI writes them. */
  readonly links?: Readonly<Record<string, object>>;
  /** Errors that this operation answers besides those of every operation. */
  readonly errors: OperationErrors & { readonly INVALID_REQUEST: string };
}

/** The route options of an operation: what its schema says is required is required, in the API's order of checks. */
export function operation<const Schema extends OperationSchema>(access: Access, schema: Schema) {
  const admitted = access.withScope(schema.operationId, schema.scope);
  return {
    schema,
    onRequest: schema.body ? [admitted, requireJson] : [admitted],
    preValidation: [
      ...(schema.idempotent ? [requireIdempotencyKey] : []),
      schema.body ? parseJson : refuseBody,
    ],
  };
}
