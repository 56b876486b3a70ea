import { defineEntity, type InferEntity, p } from '@mikro-orm/postgresql';
import { tenantColumns, timestampColumn } from '../../platform/database/tenant-columns.ts';
import type { SubscriptionError, SubscriptionState } from './subscription.ts';

export const SubscriptionEntity = defineEntity({
  name: 'WebhookSubscription',
  tableName: 'subscription',
  schema: 'webhooks',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    url: p.text(),
    uniqueUrl: p.text(),
    description: p.text(),
    eventTypes: p.array(),
    state: p.string().$type<SubscriptionState>(),
    generation: p.bigint('bigint'),
    createdAt: timestampColumn(),
    disabledAt: timestampColumn().nullable(),
    disabledPosition: p.bigint('bigint').nullable(),
    deletedAt: timestampColumn().nullable(),
    error: p.json<SubscriptionError>().nullable(),
    errorAt: timestampColumn().nullable(),
    holding: p.boolean(),
    probeAt: timestampColumn().nullable(),
    ordered: p.boolean(),
    pausedAt: timestampColumn().nullable(),
    maxConcurrentAttempts: p.integer().nullable(),
    maxAttemptsPerSecond: p.integer().nullable(),
    /** Set for listeners only. */
    listeningUntil: timestampColumn().nullable(),
  },
});

export const SigningSecretEntity = defineEntity({
  name: 'SigningSecret',
  tableName: 'signing_secret',
  schema: 'webhooks',
  properties: {
    ...tenantColumns,
    id: p.uuid().primary(),
    subscriptionId: p.uuid(),
    keyId: p.smallint(),
    sealed: p.blob(),
    createdAt: timestampColumn(),
    expiresAt: timestampColumn().nullable(),
    revealedAt: timestampColumn().nullable(),
    revealedWith: p.blob().nullable(),
  },
});

export type SubscriptionRow = InferEntity<typeof SubscriptionEntity>;
export type SigningSecretRow = InferEntity<typeof SigningSecretEntity>;
