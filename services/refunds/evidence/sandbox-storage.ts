import type { TenantTransaction } from '../../platform/database/tenant-transaction.ts';
import { resourceExhausted } from '../../platform/errors.ts';

/** 200 MB. */
const MAX_BYTES = 200 * 1024 * 1024;
/** What a small file counts: its rows take more than its content. Bounds the files that are summed, too. */
const MIN_FILE_BYTES = 16 * 1024;

/**
 * Requires storage for a file of a merchant's sandbox, where developers open any number of cases; concurrent uploads wait
 * for each other. In live only services open cases, and the number of files of each is limited. RESOURCE_EXHAUSTED
 * (EVIDENCE_STORAGE_FULL).
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
