import { createHash, createHmac } from 'node:crypto'

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

/**
 * Returns whether the signature of an address is right, computed from the specification (AWS Signature Version 4, query
 * parameters), because s3rver does not verify signatures.
 */
export function isSigned(address: string, secretAccessKey: string): boolean {
  const { host, pathname, searchParams } = new URL(address)
  const signature = searchParams.get('X-Amz-Signature')
  searchParams.delete('X-Amz-Signature')
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
  const query = [...searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')
  const canonical = ['GET', pathname, query, `host:${host}`, '', 'host', 'UNSIGNED-PAYLOAD'].join('\n')
  const date = searchParams.get('X-Amz-Date') ?? ''
  const scope = (searchParams.get('X-Amz-Credential') ?? '').split('/').slice(1)
  const text = [
    'AWS4-HMAC-SHA256',
    date,
    scope.join('/'),
    createHash('sha256').update(canonical).digest('hex'),
  ]
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${secretAccessKey}`)
  return hmac(key, text.join('\n')).toString('hex') === signature
}
