import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { InferKyselyTable } from '@mikro-orm/postgresql';
import { sql } from 'kysely';
import { queryBuilder } from '../../platform/database/database.ts';
import { prepareRead } from '../../platform/reads/prepared-read.ts';
import type { Tenant } from '../../platform/tenant.ts';
import type { SigningSecretEntity } from './subscription.entity.ts';

interface SecretTables {
  'webhooks.signing_secret': InferKyselyTable<typeof SigningSecretEntity>;
}

/** When a secret was made, seen and ends; never the secret. */
export interface SigningSecretTimes {
  created_at: Timestamp;
  revealed_at: Timestamp | null;
  expires_at: Timestamp | null;
}

const db = queryBuilder<SecretTables>();

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
    .$castTo<SigningSecretTimes>()
    .compile(),
);
