import type { DescMethod } from '@bufbuild/protobuf';
import { rpcName } from '../../../services/platform/rpc/rpc-name.ts';
import { MAX_PAGE_SIZE } from '../merchant-clients.ts';
import { canCall, textsFor, type View } from '../shell/view.ts';
import { auditTexts } from './audit.texts.ts';

/**
 * Who has just made a call about a record, for a sentence about it: "you", or a name. Looks through the last hundred
 * entries of the audit trail; the merchant itself if the call is not there, because it is older or no person made it, and
 * for people who could not make the call.
 */
export async function findCaller(
  view: View,
  method: DescMethod,
  about: Readonly<Record<string, string>>,
): Promise<string> {
  const t = textsFor(view, auditTexts);
  if (!canCall(view, method)) return t.merchant;
  const request = { peopleOnly: true, pageSize: MAX_PAGE_SIZE };
  const { entries } = await view.clients.accounts.listAuditEntries(request);
  const entry = entries.find(
    ({ action, request }) =>
      action === rpcName(method) && Object.entries(about).every(([name, value]) => request?.[name] === value),
  );
  if (!entry) return t.merchant;
  return entry.accountId === view.person.accountId
    ? t.you
    : entry.accountName || entry.accountEmail || t.merchant;
}
