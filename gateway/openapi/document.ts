import type { EventType } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { EnvironmentName } from '../../services/platform/tenant.ts';
import { readGuides } from '../docs/guides.ts';
import { ERROR_DOCS_PATH } from '../problem.ts';
import { webhooksOf } from './events.ts';
import { HEADERS } from './headers.ts';
import { type JsonObject, NamedSchemas } from './named-schemas.ts';
import { pathsOf, type RoutedOperation } from './operations.ts';

/** Of the interface, not of this implementation. */
const INTERFACE_VERSION = '1.0.0';

const SERVERS: Readonly<Record<EnvironmentName, string>> = {
  live: 'Production. Takes live keys, mpk_live_.',
  test: 'Sandbox. Takes test keys, mpk_test_.',
};

const TAGS = [
  { name: 'Refunds and disputes', description: 'Review cases of refunds.' },
  { name: 'Catalog', description: 'What the merchant sells.' },
  { name: 'Balance and withdrawals', description: 'When funds are released.' },
  { name: 'Advances', description: 'Requests for advances of receivables.' },
  { name: 'Webhooks', description: 'Where events are delivered.' },
  { name: 'Events', description: 'What is delivered to the subscribed URLs, signed.' },
];

const EVENT_TYPE = 'Name of an event type. More are added over time.';

const API_KEY = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'mpk_live_… or mpk_test_…',
  description:
    'An API key: `Authorization: Bearer mpk_live_…` in production, `mpk_test_…` in the sandbox. Each operation names the scope that the key must have.',
};

interface DocumentOptions {
  readonly environment: EnvironmentName;
  /** Where the listener is reached, without a slash at the end. */
  readonly baseUrl: string;
  readonly operations: readonly RoutedOperation[];
  /** The catalogue of events. */
  readonly eventTypes: readonly EventType[];
}

/** The OpenAPI document of one listener. */
export function openApiDocument({
  environment,
  baseUrl,
  operations,
  eventTypes,
}: DocumentOptions): JsonObject {
  const names = eventTypes.map(({ name }) => name);
  const schemas = new NamedSchemas({ EventType: { type: 'string', enum: names, description: EVENT_TYPE } });
  const docsUrl = `${baseUrl}${ERROR_DOCS_PATH}`;
  const paths = pathsOf(operations, { environment, docsUrl }, schemas);
  const webhooks = webhooksOf(eventTypes, environment, schemas);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Merchant Payments API',
      version: INTERFACE_VERSION,
      summary: 'Refund cases, products, funds releases, advances and webhooks of a merchant.',
      description: readGuides(),
    },
    servers: [{ url: baseUrl, description: SERVERS[environment] }],
    tags: TAGS,
    security: [{ apiKey: [] }],
    paths,
    webhooks,
    components: { securitySchemes: { apiKey: API_KEY }, headers: HEADERS, schemas: schemas.components() },
  };
}
