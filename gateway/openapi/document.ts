import type { EventType } from '../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import type { EnvironmentName } from '../../services/platform/tenant.ts';
import { readGuides } from '../docs/guides.ts';
import type { GuideLanguage } from '../docs/languages.ts';
import type { ApiHost } from './api-host.ts';
import { webhooksOf } from './events.ts';
import { headersOn } from './headers.ts';
import { type JsonObject, NamedSchemas } from './named-schemas.ts';
import { pathsOf, type RoutedOperation } from './operations.ts';

/** The version of the interface, not of this implementation. */
const INTERFACE_VERSION = '1.0.0';

const SERVERS: Readonly<Record<EnvironmentName, string>> = {
  live: 'Live (production). Requires live keys, mpk_live_.',
  test: 'Sandbox. Requires test keys, mpk_test_.',
};

const TAGS = [
  { name: 'Refunds and disputes', description: 'Refund cases.' },
  { name: 'Catalog', description: 'Products with their prices and offers.' },
  { name: 'Balance and withdrawals', description: 'Funds releases and the release calendar.' },
  { name: 'Advances', description: 'Requests for advances of receivables.' },
  { name: 'Webhooks', description: 'Subscriptions to events.' },
  { name: 'Events', description: 'Signed events that are delivered to subscribed URLs.' },
];

const EVENT_TYPE = 'Name of an event type. New event types may be added at any time.';

const apiKeyOf = (environment: EnvironmentName) => ({
  type: 'http',
  scheme: 'bearer',
  bearerFormat: `mpk_${environment}_…`,
  description: `An API key of this environment: \`Authorization: Bearer mpk_${environment}_…\`. Each operation names the scope that it requires.`,
});

interface DocumentOptions {
  readonly host: ApiHost;
  readonly operations: readonly RoutedOperation[];
  readonly eventTypes: readonly EventType[];
  /** The language of the guides in the description; everything else is in English. */
  readonly language: GuideLanguage;
}

export function openApiDocument({ host, operations, eventTypes, language }: DocumentOptions): JsonObject {
  const { environment, baseUrl } = host;
  const names = eventTypes.map(({ name }) => name);
  const schemas = new NamedSchemas({ EventType: { type: 'string', enum: names, description: EVENT_TYPE } });
  const paths = pathsOf(operations, host, schemas);
  const webhooks = webhooksOf(eventTypes, environment, schemas);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Merchant Payments API',
      version: INTERFACE_VERSION,
      summary: 'Refund cases, products, funds releases, advances and webhooks of a merchant.',
      description: readGuides(host, operations, language),
    },
    servers: [{ url: baseUrl, description: SERVERS[environment] }],
    tags: TAGS,
    security: [{ apiKey: [] }],
    paths,
    webhooks,
    components: {
      securitySchemes: { apiKey: apiKeyOf(environment) },
      headers: headersOn(host),
      schemas: schemas.components(),
    },
  };
}
