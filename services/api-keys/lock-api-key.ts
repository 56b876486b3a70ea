import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { notFound } from '../platform/errors.ts';
import { ApiKeyEntity, type ApiKeyRow } from './api-key.entity.ts';

/** Locks an API key until the transaction ends. NOT_FOUND (API_KEY_NOT_FOUND). */
export async function lockApiKey(tx: TenantTransaction, id: string): Promise<ApiKeyRow> {
  const key = await tx.lockOne(ApiKeyEntity, { id });
  if (!key) throw notFound('API_KEY_NOT_FOUND', 'the API key does not exist');
  return key;
}
