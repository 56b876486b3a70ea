import fc from 'fast-check';
import type { Dispatcher } from 'undici';
import { describe, expect, it, vi } from 'vitest';
import {
  Exchange,
  excerptOf,
  MAX_EXCERPT_BYTES,
  MAX_RESPONSE_READ_BYTES,
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

  it('reads no more than 64 KiB', async () => {
    const abort = vi.fn();
    const controller = { abort } as unknown as Dispatcher.DispatchController;
    const exchange = new Exchange();
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    let given = 0;
    for (; abort.mock.calls.length === 0 && given < 1_000_000; given += 1000) {
      exchange.onResponseData(controller, Buffer.alloc(1000, 'x'));
    }
    expect(given).toBe(Math.ceil(MAX_RESPONSE_READ_BYTES / 1000) * 1000);
    expect(await exchange.response).toMatchObject({ responseExcerpt: 'x'.repeat(MAX_EXCERPT_BYTES) });
  });
});
