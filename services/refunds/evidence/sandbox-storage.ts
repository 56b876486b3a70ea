import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { resourceExhausted } from '../../platform/errors.ts';

/** 200 MB. */
const MAX_BYTES = 200 * 1024 * 1024;
/**
 * The size that a small file counts as, because its rows take more than its content. Also bounds how many files are
 * summed.
 */
const MIN_FILE_BYTES = 16 * 1024;

/**
 * Requires free storage for a file in a merchant's sandbox, where developers can open any number of cases. Serializes
 * concurrent uploads. Live cases are opened only by services, and each has a limited number of files.
 * RESOURCE_EXHAUSTED (EVIDENCE_STORAGE_FULL).
 */
export async function requireSandboxStorage(tx: TenantTransaction, sizeBytes: number): Promise<void> {
  if (tx.tenant.environment === 'live') return;
  await tx.awaitNamedLock('evidence storage');
  const [used] = await tx.execute<{ bytes: number }>(
    `select coalesce(sum(greatest(size_bytes, :minFileBytes)), 0)::float8 as bytes from refunds.evidence
      where merchant_id = :merchantId and environment = :environment`,
    { minFileBytes: MIN_FILE_BYTES },
  );
  if (used!.bytes + Math.max(sizeBytes, MIN_FILE_BYTES) <= MAX_BYTES) return;
  const message = 'a merchant can store at most 200 MB of evidence in the sandbox';
  throw resourceExhausted('EVIDENCE_STORAGE_FULL', message, { maxBytes: String(MAX_BYTES) });
}
