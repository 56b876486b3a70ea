import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DomainError } from '../../../../services/platform/errors.ts';
import { recognizeFile } from '../../../../services/refunds/evidence/evidence-file.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

/** The documented beginning and end of each format. */
const FORMATS = {
  'application/pdf': [bytes('%PDF-'), bytes('%%EOF')],
  'image/jpeg': [bytes('\xff\xd8\xff'), bytes('\xff\xd9')],
  'image/png': [bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR'), bytes('IEND\xae\x42\x60\x82')],
} as const;
const EXTENSIONS = { 'application/pdf': '.pdf', 'image/jpeg': '.jpg', 'image/png': '.png' } as const;

type Type = keyof typeof FORMATS;
const TYPES = Object.keys(FORMATS) as Type[];

/** Files that attackers could make: pieces of all formats in any order, whole or truncated. */
const piece = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...Object.values(FORMATS).flat()) },
  fc.constantFrom(
    ...[
      'GIF89a',
      'PK\x03\x04',
      '\xef\xbb\xbf',
      'MZ',
      'ID3\x04',
      '\0',
      ' ',
      '<html><script>alert(1)</script>',
    ].map(bytes),
  ),
  fc.uint8Array({ maxLength: 12 }).map((random) => Buffer.from(random)),
);
const file = fc
  .tuple(
    fc.array(piece, { maxLength: 6 }).map((pieces) => Buffer.concat(pieces)),
    fc.nat(60),
  )
  .map(([content, cut]) => content.subarray(0, Math.max(content.length - Math.max(cut - 30, 0), 0)));

const name = fc.oneof(
  fc.constantFrom(
    'photo.jpg',
    '../../etc/passwd',
    'C:\\temp\\a.exe',
    '',
    '.htaccess',
    'a\u202egpj.exe',
    '"\r\nx: y',
  ),
  fc.string({ unit: 'binary', maxLength: 300 }),
);

function recognized(content: Buffer, fileName: string) {
  try {
    return recognizeFile(content, fileName);
  } catch (error) {
    if (error instanceof DomainError) return error.reason;
    throw error;
  }
}

/** The rule, restated: the beginning of the content decides the type, and the matching end must follow. */
function expectedOf(content: Buffer): string {
  if (content.length === 0) return 'EVIDENCE_EMPTY';
  const type = TYPES.find((each) => content.indexOf(FORMATS[each][0]) === 0);
  if (!type) return 'EVIDENCE_TYPE_NOT_SUPPORTED';
  const [start, end] = FORMATS[type];
  return content.indexOf(end, start.length) === -1 ? 'EVIDENCE_INCOMPLETE' : type;
}

test('only the content decides the type of a file, and its name is safe to show', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(file, name, (content, fileName) => {
      const answer = recognized(content, fileName);
      const expected = expectedOf(content);
      seen.add(expected);
      if (typeof answer === 'string') {
        expect(answer).toBe(expected);
        return;
      }
      expect(answer.contentType).toBe(expected);
      expect(answer.fileName).toMatch(/^[^\p{C}\p{Zl}\p{Zp}"<>|:*?/\\.][^\p{C}\p{Zl}\p{Zp}"<>|:*?/\\]*$/u);
      expect(answer.fileName.endsWith(EXTENSIONS[answer.contentType])).toBe(true);
      expect([...answer.fileName].length).toBeLessThan(110);
    }),
    { numRuns: propertyRuns(1_500) },
  );
  expect([...seen].sort()).toEqual(
    [...TYPES, 'EVIDENCE_EMPTY', 'EVIDENCE_INCOMPLETE', 'EVIDENCE_TYPE_NOT_SUPPORTED'].sort(),
  );
});
