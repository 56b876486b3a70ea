import type { TSchema } from 'typebox';
import type { EnvironmentName } from '../../services/platform/tenant.ts';
import { type Deprecation, deprecationHeaders } from '../plugins/deprecation.ts';
import type { OperationSchema } from '../routes/operation.ts';
import type { ApiHost } from './api-host.ts';
import { exampleOf } from './example.ts';
import { type HeaderName, headerReferences } from './headers.ts';
import type { Json, JsonObject, NamedSchemas } from './named-schemas.ts';
import { problemResponses } from './problem-responses.ts';

export interface RoutedOperation {
  readonly method: string;
  /** The path as in the router: parameters as `:name`. */
  readonly url: string;
  readonly schema: OperationSchema;
}

const BARE_KEY = '[!#-~]([ -~]{0,253}[!-~])?';
const QUOTED_KEY = '"([ !#-\\[\\]-~]|\\\\["\\\\]){1,255}"';

/** The header as sent, without surrounding spaces. */
const IDEMPOTENCY_KEY: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: true,
  description:
    'A unique value per resource to create; send the same value when you retry. 1 to 255 printable ASCII characters, bare or in double quotes. The quotes and escaping backslashes are not part of the value. Kept for 24 hours. When you try the operation here, enter a new value: reusing the example returns the first response, or an error for a different body.',
  schema: { type: 'string', minLength: 1, maxLength: 512, pattern: `^(${BARE_KEY}|${QUOTED_KEY})$` },
  example: '6f1f3a52-8a0b-4c55-9d7e-1b0c5d2e7f90',
};

/** Builds the `paths` of the document, with examples for the host. */
export function pathsOf(
  operations: readonly RoutedOperation[],
  host: ApiHost,
  schemas: NamedSchemas,
): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations) {
    const path = operation.url.replaceAll(/:(\w+)/g, '{$1}');
    const described = operationObject(operation, host, schemas);
    paths[path] = { ...paths[path], [operation.method.toLowerCase()]: described };
  }
  return paths;
}

/** The path of an operation with example parameters. */
export function examplePath({ url, schema: { params } }: RoutedOperation): string {
  const samples = (params ? exampleOf(params) : {}) as Readonly<Record<string, string>>;
  return url.replaceAll(/:(\w+)/g, (_, name: string) => samples[name]!);
}

function operationObject(operation: RoutedOperation, host: ApiHost, schemas: NamedSchemas): JsonObject {
  const { method, schema } = operation;
  const { operationId, scope, summary, description, tags, deprecation } = schema;
  const { params, querystring, body, idempotent } = schema;
  return {
    operationId,
    summary,
    description: [
      ...(deprecation ? [deprecationNotice(deprecation)] : []),
      description,
      `Requires an API key with the scope \`${scope}\`.`,
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
    responses: withDeprecationHeaders(deprecation, {
      ...successOf(schema, host, schemas),
      ...problemResponses(schema, { method, target: examplePath(operation), host }, schemas),
    }),
  };
}

const deprecationNotice = ({ since, sunset, link }: Deprecation) =>
  `**Deprecated since ${since}, removed on ${sunset}.** [Replacement](${link})`;

/** Adds the deprecation headers to responses. They are optional: errors before routing do not have them. */
function withDeprecationHeaders(deprecation: Deprecation | undefined, responses: JsonObject): JsonObject {
  if (deprecation === undefined) return responses;
  const { deprecation: since, sunset, link } = deprecationHeaders(deprecation);
  const schema = { type: 'string' };
  const deprecationHeaderObjects = {
    Deprecation: {
      description: 'The date of deprecation in Unix seconds (RFC 9745).',
      schema,
      example: since,
    },
    Sunset: { description: 'The date of removal (RFC 8594).', schema, example: sunset },
    Link: { description: 'The replacement.', schema, example: link },
  };
  return Object.fromEntries(
    Object.entries(responses as Readonly<Record<string, { headers: JsonObject }>>).map(
      ([status, response]) => [
        status,
        { ...response, headers: { ...response.headers, ...deprecationHeaderObjects } },
      ],
    ),
  );
}

function parametersOf(location: 'path' | 'query', schema: TSchema, schemas: NamedSchemas): JsonObject[] {
  const { properties, required = [] } = schema as unknown as {
    properties: Record<string, { description: string }>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, member]) => {
    const { description, examples: _, ...converted } = schemas.use(member);
    const isRequired = required.includes(name);
    const value = exampleOf(member);
    return {
      name,
      in: location,
      description: description!,
      required: isRequired,
      schema: converted,
      // At /docs, "Try it" starts without the optional filters: all examples together would match nothing.
      ...(isRequired ? { example: value } : { examples: { typical: { value, 'x-disabled': true } } }),
    };
  });
}

function successOf(
  { successDescription, response, location, idempotent, links }: OperationSchema,
  { environment }: ApiHost,
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
        description: successDescription,
        headers: headerReferences(headers),
        content: {
          'application/json': {
            schema: schemas.use(schema),
            example: inEnvironment(environment, exampleOf(schema)),
          },
        },
        ...(links && { links: links as JsonObject }),
      },
    ]),
  );
}

/** An example as returned in the given environment. */
function inEnvironment(environment: EnvironmentName, example: Json): Json {
  return JSON.parse(JSON.stringify(example), (member, value) =>
    member === 'environment' ? environment : value,
  );
}
