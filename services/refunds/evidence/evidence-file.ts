import { MAX_EVIDENCE_BYTES } from '../../contracts/refunds/evidence-limits.ts';
import { invalidArgument } from '../../platform/errors.ts';

/** The media types of evidence. */
export type EvidenceType = 'application/pdf' | 'image/jpeg' | 'image/png';

interface Format {
  readonly type: EvidenceType;
  readonly extension: string;
  /** The bytes that every file of the format begins with. */
  readonly start: Buffer;
  /** The bytes that end the file, except for what some cameras and writers append. */
  readonly end: Buffer;
}

const FORMATS: readonly Format[] = [
  // ISO 32000-2, 7.5.2 and 7.5.5.
  { type: 'application/pdf', extension: 'pdf', start: Buffer.from('%PDF-'), end: Buffer.from('%%EOF') },
  // ISO/IEC 10918-1, B.1.1.3: the start of the image, the next marker, and the end of the image.
  {
    type: 'image/jpeg',
    extension: 'jpg',
    start: Buffer.from('ffd8ff', 'hex'),
    end: Buffer.from('ffd9', 'hex'),
  },
  // W3C PNG, 5.2: the signature and the chunk IHDR; the chunk IEND with its checksum.
  {
    type: 'image/png',
    extension: 'png',
    start: Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
    end: Buffer.from('49454e44ae426082', 'hex'),
  },
];

/** A file whose content has been recognized. */
export interface EvidenceFile {
  readonly contentType: EvidenceType;
  /** Without folders, control characters and quotes, and with the extension of the content. */
  readonly fileName: string;
}

/**
 * Recognizes a PDF, JPEG or PNG by its content. The declared name is only used for display. EVIDENCE_EMPTY,
 * EVIDENCE_TYPE_NOT_SUPPORTED, EVIDENCE_INCOMPLETE.
 */
export function recognizeFile(content: Buffer, declaredName: string): EvidenceFile {
  if (content.length === 0) throw invalidArgument('EVIDENCE_EMPTY', 'the file is empty');
  const format = FORMATS.find(({ start }) => content.subarray(0, start.length).equals(start));
  if (!format) {
    throw invalidArgument('EVIDENCE_TYPE_NOT_SUPPORTED', 'the file must be a PDF, JPEG or PNG');
  }
  const { type, extension, start, end } = format;
  if (!content.includes(end, start.length)) {
    throw invalidArgument('EVIDENCE_INCOMPLETE', 'the end of the file is missing', { contentType: type });
  }
  return { contentType: type, fileName: `${displayName(declaredName)}.${extension}` };
}

const MAX_NAME_LENGTH = 100;

/**
 * The declared name in a form that is safe to show and offer for download: without paths or characters that change
 * the direction of text.
 */
function displayName(declared: string): string {
  const [name = ''] = declared.split(/[/\\]/).slice(-1);
  const stem = name
    .replace(/\.[a-z]\w{1,4}$/i, '')
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}"<>|:*?]/gu, '')
    .replace(/^[\s.]+/, '');
  return [...stem].slice(0, MAX_NAME_LENGTH).join('').trim() || 'evidence';
}

/** EVIDENCE_TOO_LARGE. */
export const evidenceTooLarge = () =>
  invalidArgument('EVIDENCE_TOO_LARGE', `the file must have at most ${MAX_EVIDENCE_BYTES} bytes`, {
    maxBytes: String(MAX_EVIDENCE_BYTES),
  });
