import fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { formatOf } from '../../../gateway/dashboard/shell/format.ts';
import { LANGUAGES } from '../../../gateway/dashboard/shell/language.ts';
import { parseReais, typedReais } from '../../../gateway/dashboard/shell/reais-input.ts';

test.each(LANGUAGES)('every amount as formatted in %s is parsed as the same amount', (language) => {
  const format = formatOf(language);
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 80n), (minor) => {
      expect(parseReais(language, format.money(minor))).toBe(minor);
      expect(parseReais(language, typedReais(format, minor))).toBe(minor);
      expect(typedReais(format, minor)).toMatch(/^[\d.,]+$/);
    }),
  );
});

it.each([
  ['pt-BR', '1234', 123_400n],
  ['pt-BR', ' R$ 1.234,5 ', 123_450n],
  ['pt-BR', '0,07', 7n],
  ['pt-BR', '1234.56', undefined],
  ['pt-BR', '1.23', undefined],
  ['pt-BR', '1,234', undefined],
  ['en', '1,234.56', 123_456n],
  ['en', '1234.56', 123_456n],
  ['en', '1.234', undefined],
  ['en', '-5', undefined],
  ['en', '1e9', undefined],
  ['en', '', undefined],
  ['en', '５', undefined],
] as const)('in %s "%s" is %s centavos', (language, text, minor) => {
  expect(parseReais(language, text)).toBe(minor);
});
