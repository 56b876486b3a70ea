import { sql } from 'kysely';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import type { ReadTable } from '../../platform/reads/read-table.ts';
import type { Tenant } from '../../platform/tenant.ts';
import type { SigningSecretEntity } from './subscription.entity.ts';

type SigningSecretReadRow = ReadTable<typeof SigningSecretEntity>;

/** When a secret was created, revealed and ends; never the secret. */
export type SigningSecretTimes = Pick<SigningSecretReadRow, 'created_at' | 'revealed_at' | 'expires_at'>;

const db = queryBuilder<{ 'webhooks.signing_secret': SigningSecretReadRow }>();

/** The secrets of a subscription that sign now, the current one first, then the newest. */
export const selectSigningSecrets = prepareRead<
  Tenant & { readonly subscriptionId: string },
  SigningSecretTimes
>((parameters) =>
  db
    .selectFrom('webhooks.signing_secret')
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('subscription_id', '=', parameters('subscriptionId'))
    .where((the) => the.or([the('expires_at', 'is', null), the('expires_at', '>', sql<never>`now()`)]))
    .select(['created_at', 'revealed_at', 'expires_at'])
    .orderBy('id', 'desc')
    .compile(),
);
