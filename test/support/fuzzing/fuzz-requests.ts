import { deflateSync, gzipSync } from 'node:zlib'
import fc, { type Arbitrary } from 'fast-check'
import type { Endpoint, Upload } from '../../../src/core/http/endpoint.ts'
import type { OpenApiDocument } from '../../../src/roles/api/openapi/document.ts'
import { anId, anyJson, corrupted, fromSchema, hostileText, toText } from './fuzz-inputs.ts'

/** A request to a route, with placeholders for ids of the platform. */
export interface FuzzRequest {
  readonly path: string
  readonly query: string
  readonly body: { readonly bytes: Buffer | string; readonly headers: Record<string, string> } | undefined
  readonly headers: Record<string, string>
}

/** Requests to a route, from valid ones to arbitrary bytes. */
export function requestsTo(spec: Endpoint, document: OpenApiDocument): Arbitrary<FuzzRequest> {
  return fc.record({
    path: pathOf(spec),
    query: queryOf(spec, document),
    body: spec.method === 'get' ? fc.constant(undefined) : bodyOf(spec, document),
    headers: fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: oddHeaders }),
  })
}

const oddHeaders = fc.dictionary(
  fc.constantFrom('Idempotency-Key', 'X-Request-Id', 'Accept', 'If-None-Match', 'Origin', 'X-Forwarded-For'),
  fc.oneof(
    fc.constantFrom('a', 'b', '*/*', '""', 'null', 'x'.repeat(256), 'caf\xe9', '"', 'text/html;q=zz'),
    fc.string({ maxLength: 40 }).map((value) => value.replaceAll(/[^\x20-\x7e]/g, '').trim()),
  ),
  { maxKeys: 2, noNullPrototype: true },
)

/** Percent-encodes any text, lone surrogates included; truncated, because a longer URL never reaches a route. */
const encoded = (text: string) =>
  [...Buffer.from(text).subarray(0, 1_000)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

function pathOf({ path }: Endpoint): Arbitrary<string> {
  const segment = fc.oneof(
    { weight: 10, arbitrary: anId(resourcesIn(path)) },
    { weight: 1, arbitrary: fc.integer({ min: -1, max: 12 }).map(String) },
    { weight: 1, arbitrary: fc.uuid() },
    // A client normalizes segments that contain only dots before it sends the path.
    { weight: 2, arbitrary: hostileText.filter((text) => !/^\.*$/.test(text)).map(encoded) },
    { weight: 1, arbitrary: fc.constantFrom('%', '%zz', '%c3%28', '%00', '%2f', '*', '~', 'a;b', 'a,b') },
  )
  const locations = path.split(/\{\w+\}/)
  return fc
    .array(segment, { minLength: locations.length - 1, maxLength: locations.length - 1 })
    .map((segments) => locations.map((location, at) => location + (segments[at] ?? '')).join(''))
}

/** Returns the kind of resource of a path: `robot` for `/api/client/robots/{id}/token` and `/api/client/robots`. */
export function resourcesIn(path: string): string {
  const segments = path.split('/')
  const parameter = segments.findLastIndex((segment) => segment.startsWith('{'))
  const word = parameter > 0 ? segments[parameter - 1] : segments.at(-1)
  return (word ?? '').replace(/s$/, '').replaceAll(/\W/g, '')
}

function queryOf(spec: Endpoint, document: OpenApiDocument): Arbitrary<string> {
  const named = (document.paths?.[spec.path]?.[spec.method]?.parameters ?? []).flatMap((parameter) =>
    'in' in parameter && parameter.in === 'query' ? [parameter] : [],
  )
  const components = document.components?.schemas ?? {}
  const valid = named.map(({ name, schema }) =>
    fc
      .option(schema ? fromSchema(components, schema, name) : hostileText, { nil: undefined })
      .map((value) => (value === undefined ? [] : [`${name}=${encodedValue(value)}`])),
  )
  const names = fc.oneof(hostileText, fc.constantFrom('__proto__', 'limit', ...named.map(({ name }) => name)))
  const bad = fc
    .tuple(names, fc.oneof(hostileText.map(encoded), fc.constantFrom('%', '%ff', '&&', '=', '[]=1', '[a]=1')))
    .map(([name, value]) => [`${encoded(name)}=${value}`])
  const pairs = fc.oneof(
    { weight: 3, arbitrary: fc.tuple(...valid) },
    { weight: 1, arbitrary: fc.tuple(...valid, bad, bad) },
  )
  return pairs.map((parts) => parts.flat().join('&'))
}

const encodedValue = (value: unknown) =>
  typeof value === 'string' && !value.startsWith('@@') ? encoded(value) : String(value)

type Body = NonNullable<FuzzRequest['body']>
const JSON_TYPE = { 'Content-Type': 'application/json' }

function bodyOf(spec: Endpoint, document: OpenApiDocument): Arbitrary<Body | undefined> {
  const described = document.paths?.[spec.path]?.[spec.method]?.requestBody
  const schema =
    described && 'content' in described ? described.content['application/json']?.schema : undefined
  const valid = schema ? fromSchema(document.components?.schemas ?? {}, schema) : fc.constant({})
  const asJson = (value: unknown): Body => ({ bytes: toText(value), headers: JSON_TYPE })
  return fc.oneof(
    { weight: 6, arbitrary: valid.map(asJson) },
    { weight: 5, arbitrary: corrupted(valid).map(asJson) },
    { weight: 2, arbitrary: anyJson.map(asJson) },
    { weight: 2, arbitrary: raw(spec) },
    ...(spec.upload ? [{ weight: 12, arbitrary: multipart(spec.upload) }] : []),
    { weight: 1, arbitrary: fc.constant(undefined) },
  )
}

/** Generates arbitrary, truncated, deep, large and compressed bytes. */
const rawBytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
  fc.constantFrom<string | Buffer>(
    '',
    '{',
    '{"a":',
    '[',
    '"text"',
    'null',
    '{}}',
    '\0',
    '\ufeff{}',
    '{"a":1,"a":2}',
    '{"__proto__":{"x":1}}',
    '[1e999]',
    '-',
    '{"a":"\\ud800"}',
    '['.repeat(50_000),
    '{"a":'.repeat(20_000),
    'x'.repeat(300_000),
    Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    Buffer.from('{}', 'utf16le'),
    gzipSync('{}'),
    gzipSync('{}').subarray(0, 12),
    gzipSync('x'.repeat(5_000_000)),
    deflateSync('{}'),
  ),
)

/** Generates bytes that contradict their headers, or have an unexpected type. */
function raw({ body }: Endpoint): Arbitrary<Body> {
  const type = fc.constantFrom(
    'application/json',
    'application/json',
    'application/json; charset=utf-16',
    'application/json;;',
    'json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'application/octet-stream',
    'multipart/form-data; boundary=x',
    'application/problem+json',
    '*/*',
    body ? 'application/JSON' : 'text/csv',
  )
  const encoding = fc.constantFrom(
    undefined,
    undefined,
    undefined,
    'gzip',
    'deflate',
    'br',
    'bogus',
    'gzip, gzip',
  )
  return fc.tuple(rawBytes, type, encoding).map(([bytes, type, encoding]) => ({
    bytes,
    headers: { 'Content-Type': type, ...(encoding !== undefined && { 'Content-Encoding': encoding }) },
  }))
}

/** One transparent pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)

/** Generates multipart bodies, complete and truncated, with files whose content matches their type or does not. */
function multipart({ field, types }: Upload): Arbitrary<Body> {
  const part = fc.record({
    name: fc.oneof({ weight: 4, arbitrary: fc.constant(field) }, { weight: 1, arbitrary: hostileText }),
    type: fc.constantFrom(...types, 'image/svg+xml', 'text/plain', 'x'),
    content: fc.oneof(
      fc.constant(PNG),
      fc.constant(PNG.subarray(0, 40)),
      fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
      fc.constant(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')),
    ),
    fileName: fc.oneof(fc.constant('a.png'), hostileText),
  })
  return fc.tuple(fc.array(part, { maxLength: 3 }), fc.boolean()).map(([parts, whole]) => {
    const chunks = parts.flatMap(({ name, type, content, fileName }) => [
      Buffer.from(
        `--x\r\nContent-Disposition: form-data; name="${name}"; filename="${fileName}"\r\n` +
          `Content-Type: ${type}\r\n\r\n`,
      ),
      content,
      Buffer.from('\r\n'),
    ])
    return {
      bytes: Buffer.concat([...chunks, Buffer.from(whole ? '--x--\r\n' : '--x')]),
      headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
    }
  })
}
