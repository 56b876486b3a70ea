import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { DemoTenant } from './demo-tenant.ts';

const LINES = ['Comprovante de entrega', 'Recebido e assinado pelo cliente.', 'Documento de demonstracao.'];

interface Attachment {
  readonly idempotencyKey: string;
  /** The refund case or the dispute. */
  readonly refundCaseId?: string;
  readonly disputeId?: string;
  readonly occurredAt: Timestamp;
}

/** Attaches a delivery receipt to a refund case or a dispute. */
export async function attachReceipt(demo: DemoTenant, write: Attachment): Promise<void> {
  const first = { ...demo.tenant, ...write, fileName: 'comprovante-de-entrega.pdf' };
  await demo.clients.refunds.addEvidence(
    (async function* () {
      yield { ...first, chunk: pdfOf(LINES) };
    })(),
  );
}

function pdfOf(lines: readonly string[]): Uint8Array<ArrayBuffer> {
  const shown = lines.map((line, n) => `${n === 0 ? '18' : '12'} TL (${line}) Tj T* T*`).join('\n');
  const text = `BT /F1 14 Tf 72 760 Td\n${shown}\nET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${text.length} >>\nstream\n${text}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  let pdf = '%PDF-1.4\n';
  const offsets = objects.map((object, n) => {
    const offset = pdf.length;
    pdf += `${n + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  pdf += `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}`;
  const start = pdf.lastIndexOf('xref\n');
  pdf += `trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return new Uint8Array(Buffer.from(pdf, 'latin1'));
}
