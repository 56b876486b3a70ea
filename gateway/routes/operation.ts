import type { FastifySchema } from 'fastify';
import type { TSchema } from 'typebox';
import type { ApiKeyScopeName } from '../../services/platform/api-key-scopes.ts';
import type { Access } from '../auth/access.ts';
import type { Deprecation } from '../plugins/deprecation.ts';
import { parseJson, rejectBody, requireIdempotencyKey, requireJson } from '../plugins/request-body.ts';
import type { ProblemCode, StaticProblemCode } from '../problems/problem-types.ts';

/** Errors by code, each with an example of its detail, or true for codes with a fixed detail. */
export type OperationErrors = {
  readonly [Code in ProblemCode]?: Code extends StaticProblemCode ? true : string;
};

/** The schema of a public API route: drives validation, serialization, authorization and documentation. */
export interface OperationSchema extends FastifySchema {
  readonly operationId: string;
  readonly scope: ApiKeyScopeName;
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  readonly tags: readonly string[];
  /** Announced in the OpenAPI document and in the headers of every response. */
  readonly deprecation?: Deprecation;
  readonly params?: TSchema;
  readonly querystring: TSchema;
  /** The JSON body. Without it, the operation rejects any body. */
  readonly body?: TSchema;
  /** Whether an Idempotency-Key is required. */
  readonly idempotent?: true;
  /** What a successful response contains, in one sentence. */
  readonly successDescription: string;
  /** The success response, by status. */
  readonly response: Readonly<Record<number, TSchema>>;
  /** Whether the success response has a Location header. */
  readonly location?: true;
  /** OpenAPI links from the success response to other operations. */
  readonly links?: Readonly<Record<string, object>>;
  /** Errors specific to this operation, in addition to the common ones. */
  readonly errors: OperationErrors & { readonly INVALID_REQUEST: string };
}

/** Builds the route options of an operation: the checks that its schema requires, in the API's order. */
export function operation<const Schema extends OperationSchema>(access: Access, schema: Schema) {
  const authorize = access.withScope(schema.operationId, schema.scope);
  return {
    schema,
    onRequest: schema.body ? [authorize, requireJson] : [authorize],
    preValidation: [
      ...(schema.idempotent ? [requireIdempotencyKey] : []),
      schema.body ? parseJson : rejectBody,
    ],
  };
}
