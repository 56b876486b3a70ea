import type { TenantTransaction } from '../platform/database/tenant-transaction.ts';
import { notFound } from '../platform/errors.ts';
import { ApiKeyEntity, type ApiKeyRow } from './api-key.entity.ts';

/** The record, locked until the transaction ends. NOT_FOUND (API_KEY_NOT_FOUND). */
export async function lockApiKey(tx: TenantTransaction, id: string): Promise<ApiKeyRow> {
  const key = await tx.lockOne(ApiKeyEntity, { id });
  if (!key) throw notFound('API_KEY_NOT_FOUND', 'there is no such API key');
  return key;
}
