import { sql } from 'kysely';
import { prepareRead, type ReadParameters } from '../../platform/reads/prepared-read.ts';
import { queryBuilder } from '../../platform/reads/query-builder.ts';
import { columnsOf, type ReadTable } from '../../platform/reads/read-table.ts';
import type { Tenant } from '../../platform/tenant.ts';
import { EvidenceEntity } from './evidence.entity.ts';

/** A piece of evidence as hot reads return it, without its content. */
export type EvidenceReadRow = ReadTable<typeof EvidenceEntity>;

const db = queryBuilder<{
  'refunds.evidence': EvidenceReadRow;
  'refunds.evidence_content': {
    merchant_id: string;
    environment: string;
    evidence_id: string;
    content: Buffer;
  };
}>();

function evidence(parameters: ReadParameters<Tenant>) {
  return db
    .selectFrom('refunds.evidence')
    .select(columnsOf(EvidenceEntity))
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'));
}

const evidenceOf = (column: 'refund_case_id' | 'dispute_id') =>
  prepareRead<Tenant & { subjectId: string }, EvidenceReadRow>((parameters) =>
    evidence(parameters)
      .where(column, '=', parameters('subjectId'))
      .orderBy('added_at')
      .orderBy('id')
      .compile(),
  );

/** The evidence of a refund case, oldest first. */
export const selectEvidenceOfCase = evidenceOf('refund_case_id');

/** The evidence of a dispute, oldest first. */
export const selectEvidenceOfDispute = evidenceOf('dispute_id');

/** A byte range of a file. */
interface ContentRange extends Tenant {
  readonly id: string;
  /** The position of its first byte, from 1. */
  readonly from: number;
  readonly bytes: number;
}

/** A byte range of the content of a piece of evidence. */
export const selectChunk = prepareRead<ContentRange, { chunk: Buffer }>((parameters) =>
  db
    .selectFrom('refunds.evidence_content')
    .select(
      sql<Buffer>`substring(content from ${parameters('from')}::int for ${parameters('bytes')}::int)`.as(
        'chunk',
      ),
    )
    .where('merchant_id', '=', parameters('merchantId'))
    .where('environment', '=', parameters('environment'))
    .where('evidence_id', '=', parameters('id'))
    .compile(),
);
