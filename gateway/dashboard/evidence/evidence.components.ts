import { type Evidence, RefundCaseService } from '../../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { MAX_EVIDENCE_FILES } from '../../../services/contracts/refunds/evidence-limits.ts';
import { dataTable, field, form, moment } from '../shell/components.ts';
import { type Html, html, nothing } from '../shell/html.ts';
import { may, pathTo, textsFor, type View } from '../shell/view.ts';
import { evidenceTexts } from './evidence.texts.ts';

/** The evidence of a refund case or a dispute. */
export interface EvidenceDetails {
  /** The page that shows it, below the merchant's: `/refunds/<id>`. */
  readonly path: string;
  /** Oldest first. */
  readonly files: readonly Evidence[];
  /** How many pieces were submitted elsewhere. */
  readonly elsewhere: number;
}

/** The files, with links to download them. */
export function evidenceList(view: View, { path, files, elsewhere }: EvidenceDetails): Html {
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

/** The form to add a file, for those who may add one, with the reason if the last one was refused. */
export function evidenceForm(view: View, { path, files }: EvidenceDetails, fault?: string): Html {
  const t = textsFor(view, evidenceTexts);
  if (!may(view, RefundCaseService.method.addEvidence) || files.length >= MAX_EVIDENCE_FILES) return nothing;
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
