import fc from 'fast-check';
import { expect, it } from 'vitest';
import { repeatedMember } from '../../gateway/http/json-members.ts';

it.each([
  ['{"a":1,"b":2,"a":3}', '/a'],
  ['{"a":1,"\\u0061":1}', '/a'],
  ['{"a":[{},{"b":{"c":1,"c":2}}]}', '/a/1/b/c'],
  ['{"":1,"":2}', '/'],
  ['{"a/b~":1,"a/b~":2}', '/a~1b~0'],
  ['{"__proto__":1,"__proto__":2}', '/__proto__'],
  ['[{"a":1},{"a":1}]', undefined],
  ['{"a":"a","b":"\\"a\\":{,"}', undefined],
  ['"a"', undefined],
])('the duplicate member in %s is %s', (json, pointer) => {
  expect(repeatedMember(json)).toBe(pointer);
});

it('finds no duplicate members in output of JSON.stringify', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), fc.nat(3), (value, space) => {
      expect(repeatedMember(JSON.stringify(value, undefined, space))).toBeUndefined();
    }),
  );
});

it('a duplicate member is found at any position', () => {
  const step = fc.oneof(fc.string({ unit: 'binary' }), fc.nat(3));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 5 }), fc.string({ unit: 'binary' }), (path, name) => {
      const key = JSON.stringify(name);
      const json = path.reduceRight<string>(
        (inner, at) =>
          typeof at === 'number'
            ? `[${'{"x":1},'.repeat(at)}${inner}]`
            : `{"0${JSON.stringify(at).slice(1)}:${inner}}`,
        `{${key}:{"x":[1]},"x${key.slice(1)}:2,${key}:3}`,
      );
      const steps = path.map((at) => (typeof at === 'number' ? at : `0${at}`));
      const pointer = [...steps, name].map(
        (at) => `/${String(at).replaceAll('~', '~0').replaceAll('/', '~1')}`,
      );
      expect(repeatedMember(json)).toBe(pointer.join(''));
    }),
  );
});

it('64 KiB of opening brackets are read', () => {
  expect(repeatedMember(`${'['.repeat(32_000)}${']'.repeat(32_000)}`)).toBeUndefined();
});
