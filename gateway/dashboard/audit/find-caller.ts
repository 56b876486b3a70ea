import type { DescMethod } from '@bufbuild/protobuf';
import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import type { AuditEntry } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { pagesOf } from '../../../services/platform/rpc/pages-of.ts';
import { rpcName } from '../../../services/platform/rpc/rpc-name.ts';
import { canCall, textsFor, type View } from '../shell/view.ts';
import { auditTexts } from './audit.texts.ts';

/** Bounds the reads for a call that no person made. */
const MAX_ENTRIES = 1_000;
/** The entry of a call may be a little older than the change, as another process records it. */
const CLOCK_SKEW_MS = 60_000;

/**
 * Who made a call about a record at a time, for a sentence about it: "you", or a name. Looks through the audit trail back to
 * that time; the merchant itself if the call is not among its last thousand entries or no person made it, and for people
 * who could not make the call.
 */
export async function findCaller(
  view: View,
  method: DescMethod,
  about: Readonly<Record<string, string>>,
  at: Timestamp | undefined,
): Promise<string> {
  const t = textsFor(view, auditTexts);
  if (!canCall(view, method)) return t.merchant;
  const isCall = ({ action, request }: AuditEntry) =>
    action === rpcName(method) && Object.entries(about).every(([name, value]) => request?.[name] === value);
  const entry = await findEntry(view, isCall, at ? timestampMs(at) - CLOCK_SKEW_MS : 0);
  if (!entry) return t.merchant;
  return entry.accountId === view.person.accountId
    ? t.you
    : entry.accountName || entry.accountEmail || t.merchant;
}

async function findEntry(
  { clients }: View,
  matches: (entry: AuditEntry) => boolean,
  sinceMs: number,
): Promise<AuditEntry | undefined> {
  let read = 0;
  const list = clients.accounts.listAuditEntries;
  for await (const { entries } of pagesOf((page) => list({ ...page, peopleOnly: true }))) {
    const found = entries.find(matches);
    if (found) return found;
    read += entries.length;
    const oldest = entries.at(-1)?.occurredAt;
    if (read >= MAX_ENTRIES || (oldest && timestampMs(oldest) < sinceMs)) return undefined;
  }
  return undefined;
}
