import { Code } from '@connectrpc/connect';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { type Evidence, RefundCaseService } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import {
  MAX_EVIDENCE_CHUNK_BYTES,
  MAX_EVIDENCE_FILES,
} from '../../../services/contracts/refunds/evidence-limits.ts';
import type { Section } from '../shell/access.ts';
import { dataTable, field, form, moment } from '../shell/components.ts';
import { type Download, streamed } from '../shell/downloads.ts';
import { codeOf, noSuchPage, refusalText } from '../shell/failures.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import type { Pages } from '../shell/pages.ts';
import type { UploadedFile } from '../shell/uploads.ts';
import { canCall, type Page, pathTo, textsFor, type View } from '../shell/view.ts';
import { evidenceTexts } from './evidence.texts.ts';

const MAX_NAME_LENGTH = 200;

type Subject = { readonly refundCaseId: string } | { readonly disputeId: string };
type Params = Readonly<Record<string, string>>;

/** The page whose case or dispute the files belong to. */
interface EvidenceOwner {
  /** `/refunds/:refundCaseId`. */
  readonly path: string;
  readonly section: Section;
  subjectOf(params: Params): Subject;
  /** Renders the page with the reason why a file was refused. */
  render(view: View, params: Params, fault: string): Promise<Page>;
}

/** Adds and downloads the evidence of a refund case or a dispute. */
export function evidencePages(pages: Pages, owner: EvidenceOwner): void {
  const path = `${owner.path}/evidence`;
  const { section } = owner;
  const { addEvidence } = RefundCaseService.method;
  const options = { path, section, rpc: addEvidence, hasFile: true, refusals: evidenceTexts } as const;
  pages.action(options, async (view, { params, key, file }) => {
    const fault = await addFile(view, owner.subjectOf(params), file, key);
    if (fault !== undefined) return { ...(await owner.render(view, params, fault)), status: 422 };
    const page = owner.path.replaceAll(/:(\w+)/g, (_, name: string) => params[name]!);
    return { redirect: page, notice: 'evidence' };
  });
  pages.download({ path: `${path}/:evidenceId`, section, role: Role.VIEWER }, async (view, { params }) =>
    openFile(view, owner.subjectOf(params), params.evidenceId!),
  );
}

/** Adds a file; returns the reason for the reader if the file itself is at fault. Other refusals are thrown. */
async function addFile(
  view: View,
  subject: Subject,
  file: UploadedFile | null,
  idempotencyKey: string,
): Promise<string | undefined> {
  const t = textsFor(view, evidenceTexts);
  if (file === 'TOO_LARGE') return t.refusals.EVIDENCE_TOO_LARGE;
  // A browser sends a file without a name and content when none was chosen.
  if (file === null || (file.name === '' && file.content.length === 0)) return t.missing;
  const { name, content } = file;
  const first = { ...subject, idempotencyKey, fileName: storableName(name) };
  try {
    await view.clients.refundCases.addEvidence(messagesOf(first, content));
    return undefined;
  } catch (error) {
    const isFileFault = codeOf(error) === Code.InvalidArgument;
    const fault = isFileFault ? refusalText(error, evidenceTexts, view.language) : undefined;
    if (fault === undefined) throw error;
    return fault;
  }
}

/** A browser's file name, reduced to what the services accept. */
function storableName(name: string): string {
  const characters = [...name.toWellFormed().replaceAll('\0', '')];
  return characters.slice(0, MAX_NAME_LENGTH).join('') || 'file';
}

async function* messagesOf(first: Subject & { idempotencyKey: string; fileName: string }, content: Buffer) {
  yield first;
  for (let offset = 0; offset < content.length; offset += MAX_EVIDENCE_CHUNK_BYTES) {
    yield { chunk: new Uint8Array(content.subarray(offset, offset + MAX_EVIDENCE_CHUNK_BYTES)) };
  }
}

/** Opens a file of the subject; any other file is a 404. */
async function openFile(view: View, subject: Subject, evidenceId: string): Promise<Download> {
  const { evidence } = await view.clients.refundCases.listEvidence(subject);
  const file = evidence.find(({ id }) => id === evidenceId);
  if (!file) throw noSuchPage();
  const { fileName: name, contentType, sizeBytes } = file;
  const read = () =>
    streamed(
      (options) => view.clients.refundCases.getEvidence({ evidenceId }, options),
      ({ chunk }) => chunk,
    );
  return { name, contentType, sizeBytes, read };
}

/** The evidence of a refund case or a dispute. */
interface EvidenceDetails {
  /** The page that shows it, below the merchant's: `/refunds/<id>`. */
  readonly path: string;
  /** Oldest first. */
  readonly files: readonly Evidence[];
  /** How many pieces were submitted elsewhere. */
  readonly elsewhere: number;
  /** Whether files can still be added. */
  readonly isOpen: boolean;
  /** Why the last file was refused. */
  readonly fault: string | undefined;
}

/** The files and, for those who may add one, the form for it, as live regions of a page. */
export const evidenceRegions = (view: View, details: EvidenceDetails) => ({
  evidence: evidenceList(view, details),
  upload: evidenceForm(view, details),
});

/** The files, with links to download them. */
function evidenceList(view: View, { path, files, elsewhere }: EvidenceDetails): Html {
  const t = textsFor(view, evidenceTexts);
  const link = ({ id, fileName }: Evidence) =>
    html`<a href="${pathTo(view, `${path}/evidence/${id}`)}" download>${fileName}</a>`;
  return html`<h2>${t.heading}</h2>
${dataTable<Evidence>(
  t.hint,
  [
    { label: t.name, isFreeText: true, cell: link },
    { label: t.kind, cell: ({ contentType }) => contentType.split('/')[1]!.toUpperCase() },
    { label: t.size, isNumber: true, cell: ({ sizeBytes }) => view.format.fileSize(sizeBytes) },
    { label: t.added, cell: ({ addedAt }) => moment(view, addedAt) },
  ],
  files,
  t.none,
)}
${elsewhere > 0 ? html`<p class="hint">${t.elsewhere(elsewhere)}</p>` : nothing}`;
}

function evidenceForm(view: View, { path, files, isOpen, fault }: EvidenceDetails): Html {
  const t = textsFor(view, evidenceTexts);
  const isFull = files.length >= MAX_EVIDENCE_FILES;
  if (!isOpen || isFull || !canCall(view, RefundCaseService.method.addEvidence)) return nothing;
  const accept = html`accept=".pdf,.jpg,.jpeg,.png,application/pdf,image/jpeg,image/png"`;
  return form(view, {
    action: `${path}/evidence`,
    submit: t.add,
    tone: 'plain',
    hasFile: true,
    fields: field(
      { name: 'file', label: t.file, hint: t.fileHint, fault },
      (attributes) => html`<input type="file" ${attributes} ${accept} required>`,
    ),
  });
}
