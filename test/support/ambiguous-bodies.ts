/**
 * Bodies whose end another server may see elsewhere: their headers and, unless it is the last chunk only, the body. What
 * follows must not be read as a request.
 */
export const AMBIGUOUS_BODIES: [what: string, head: string, body?: string][] = [
  ['two lengths', 'Content-Length: 5\r\nContent-Length: 6'],
  ['the same length twice', 'Content-Length: 5\r\nContent-Length: 5'],
  ['a list of lengths', 'Content-Length: 5, 5'],
  ['a signed length', 'Content-Length: +5'],
  ['a negative length', 'Content-Length: -5'],
  ['a hexadecimal length', 'Content-Length: 0x5'],
  ['an empty length', 'Content-Length:'],
  ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
  ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 5'],
  ['an unknown encoding', 'Transfer-Encoding: xchunked'],
  ['an encoding in quotes', 'Transfer-Encoding: "chunked"'],
  ['chunks before another encoding', 'Transfer-Encoding: chunked, identity'],
  ['chunks twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked'],
  ['an encoding after a vertical tab', 'Transfer-Encoding: \x0bchunked'],
  ['a space before the colon', 'Transfer-Encoding : chunked'],
  ['a folded header', 'X: a\r\n Transfer-Encoding: chunked'],
  ['a folded encoding', 'Transfer-Encoding:\r\n chunked'],
  ['a lone line feed after a header', 'X: a\nTransfer-Encoding: chunked'],
  ['a lone carriage return in a header', 'X: a\rTransfer-Encoding: chunked'],
  ['an invalid chunk size', 'Transfer-Encoding: chunked', '0x5\r\nhello\r\n0\r\n\r\n'],
  ['a chunk size that overflows', 'Transfer-Encoding: chunked', '10000000000000005\r\nhello\r\n0\r\n\r\n'],
  ['a lone line feed after a chunk size', 'Transfer-Encoding: chunked', '5\nhello\r\n0\r\n\r\n'],
  ['a lone line feed in a chunk extension', 'Transfer-Encoding: chunked', '5;a\nb\r\nhello\r\n0\r\n\r\n'],
  ['a chunk that is longer than its size', 'Transfer-Encoding: chunked', '3\r\nhello\r\n0\r\n\r\n'],
];
