import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  excerptOf,
  MAX_EXCERPT_BYTES,
  MAX_RESPONSE_READ_BYTES,
  ResponseExcerpt,
} from '../../../../services/webhooks/attempts/exchange.ts';

describe('the excerpt of a response', () => {
  it('is the text itself if it is short and printable', () => {
    const text = 'Olá, “ok” 😀\n\tdone\r\n';
    expect(excerptOf(Buffer.from(text))).toBe(text);
    expect(excerptOf(Buffer.alloc(0))).toBe('');
  });

  it('shows NUL, control characters and broken UTF-8 as replacement characters', () => {
    const bytes = Buffer.from([0x61, 0x00, 0x1b, 0x7f, 0xc2, 0x85, 0xff, 0xed, 0xa0, 0x80, 0x62]);
    expect(excerptOf(bytes)).toMatch(/^a\ufffd+b$/);
  });

  it('does not cut a character in two', () => {
    expect(excerptOf(Buffer.from(`a${'é'.repeat(3000)}`))).toBe(`a${'é'.repeat(2047)}`);
    expect(excerptOf(Buffer.from('é'.repeat(3000)))).toBe('é'.repeat(2048));
  });

  it('is at most 4 KiB of text that PostgreSQL accepts, for arbitrary bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3 * MAX_EXCERPT_BYTES, size: 'max' }), (bytes) => {
        const text = excerptOf(bytes);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_EXCERPT_BYTES);
        expect(text.isWellFormed()).toBe(true);
        expect(text).not.toContain('\0');
      }),
      { endOnFailure: true },
    );
  });

  it('reads no more than 64 KiB', () => {
    const excerpt = new ResponseExcerpt();
    let given = 0;
    do given += 1000;
    while (excerpt.add(Buffer.alloc(1000, 'x')) && given < 1_000_000);
    expect(excerpt.text()).toBe('x'.repeat(MAX_EXCERPT_BYTES));
    expect(given).toBe(Math.ceil(MAX_RESPONSE_READ_BYTES / 1000) * 1000);
  });
});
