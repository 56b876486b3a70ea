import type { TSchema } from 'typebox';
import type { EnvironmentName } from '../../services/platform/tenant.ts';
import { type Deprecation, deprecationHeaders } from '../plugins/deprecation.ts';
import type { OperationSchema } from '../routes/operation.ts';
import { exampleOf } from './example.ts';
import { type HeaderName, headerReferences } from './headers.ts';
import type { Listener } from './listener.ts';
import type { Json, JsonObject, NamedSchemas } from './named-schemas.ts';
import { problemResponses } from './problem-responses.ts';

/** An operation and where the router has it. */
export interface RoutedOperation {
  readonly method: string;
  /** As the router writes it: parameters as `:name`. */
  readonly url: string;
  readonly schema: OperationSchema;
}

const BARE_KEY = '[!#-~]([ -~]{0,253}[!-~])?';
const QUOTED_KEY = '"([ !#-\\[\\]-~]|\\\\["\\\\]){1,255}"';

/** What the header may be on the wire; spaces around it are no part of it. */
const IDEMPOTENCY_KEY: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: true,
  description:
    'Unique per attempt to create, and the same when trying again: 1 to 255 printable ASCII characters, bare or in double quotes. Kept for 24 hours. Whoever tries the operation here enters a value of their own: with the example again, the first answer is repeated or another body refused.',
  schema: { type: 'string', minLength: 1, maxLength: 512, pattern: `^(${BARE_KEY}|${QUOTED_KEY})$` },
  example: '6f1f3a52-8a0b-4c55-9d7e-1b0c5d2e7f90',
};

/** The `paths` of the document, with examples as the listener answers them. */
export function pathsOf(
  operations: readonly RoutedOperation[],
  listener: Listener,
  schemas: NamedSchemas,
): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations) {
    const path = operation.url.replaceAll(/:(\w+)/g, '{$1}');
    const described = operationObject(operation, listener, schemas);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: described };
  }
  return paths;
}

/** A real path of an operation, with the examples of its parameters. */
export function exampleTarget({ url, schema: { params } }: RoutedOperation): string {
  const samples = (params ? exampleOf(params) : {}) as Readonly<Record<string, string>>;
  return url.replaceAll(/:(\w+)/g, (_, name: string) => samples[name]!);
}

function operationObject(operation: RoutedOperation, listener: Listener, schemas: NamedSchemas): JsonObject {
  const { method, schema } = operation;
  const { operationId, scope, summary, description, tags, deprecation } = schema;
  const { params, querystring, body, idempotent } = schema;
  return {
    operationId,
    summary,
    description: [
      ...(deprecation ? [deprecationNotice(deprecation)] : []),
      description,
      `Takes an API key with the scope \`${scope}\`.`,
    ].join('\n\n'),
    tags,
    ...(deprecation && { deprecated: true }),
    security: [{ apiKey: [scope] }],
    parameters: [
      ...(params ? parametersOf('path', params, schemas) : []),
      ...parametersOf('query', querystring, schemas),
      ...(idempotent ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemas.use(body), example: exampleOf(body) } },
      },
    }),
    responses: announcing(deprecation, {
      ...successOf(schema, listener, schemas),
      ...problemResponses(schema, { method, target: exampleTarget(operation), listener }, schemas),
    }),
  };
}

const deprecationNotice = ({ since, sunset, link }: Deprecation) =>
  `**Deprecated since ${since}, gone on ${sunset}.** [What takes its place](${link})`;

/** Responses with the headers that a deprecation brings; not required, for what fails before the route is known lacks them. */
function announcing(deprecation: Deprecation | undefined, responses: JsonObject): JsonObject {
  if (deprecation === undefined) return responses;
  const { deprecation: since, sunset, link } = deprecationHeaders(deprecation);
  const schema = { type: 'string' };
  const announcements = {
    Deprecation: {
      description: 'Since when it is deprecated, in Unix seconds (RFC 9745).',
      schema,
      example: since,
    },
    Sunset: { description: 'When it will be gone (RFC 8594).', schema, example: sunset },
    Link: { description: 'What takes its place.', schema, example: link },
  };
  return Object.fromEntries(
    Object.entries(responses as Readonly<Record<string, { headers: JsonObject }>>).map(
      ([status, response]) => [status, { ...response, headers: { ...response.headers, ...announcements } }],
    ),
  );
}

function parametersOf(place: 'path' | 'query', schema: TSchema, schemas: NamedSchemas): JsonObject[] {
  const { properties, required = [] } = schema as unknown as {
    properties: Record<string, { description: string }>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, member]) => {
    const { description, examples: _, ...written } = schemas.use(member);
    const isRequired = required.includes(name);
    const value = exampleOf(member);
    return {
      name,
      in: place,
      description: description!,
      required: isRequired,
      schema: written,
      // Whoever tries a list at /docs starts without its filters; all at once they would find nothing.
      ...(isRequired ? { example: value } : { examples: { typical: { value, 'x-disabled': true } } }),
    };
  });
}

function successOf(
  { answers, response, location, idempotent, links }: OperationSchema,
  { environment }: Listener,
  schemas: NamedSchemas,
): JsonObject {
  const headers: HeaderName[] = [
    ...(['Request-Id', 'RateLimit-Policy', 'RateLimit'] as const),
    ...(location ? (['Location'] as const) : []),
    ...(idempotent ? (['Idempotency-Replayed'] as const) : []),
  ];
  return Object.fromEntries(
    Object.entries(response).map(([status, schema]) => [
      status,
      {
        description: answers,
        headers: headerReferences(headers),
        content: {
          'application/json': {
            schema: schemas.use(schema),
            example: seenIn(environment, exampleOf(schema)),
          },
        },
        ...(links && { links: links as JsonObject }),
      },
    ]),
  );
}

/** An example as the listener of an environment answers it. */
function seenIn(environment: EnvironmentName, example: Json): Json {
  return JSON.parse(JSON.stringify(example), (member, value) =>
    member === 'environment' ? environment : value,
  );
}
