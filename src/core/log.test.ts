import { describe, expect, test } from 'vitest'
import { createLog } from './log.ts'

describe('the log', () => {
  function logged(line: object): Record<string, unknown> {
    const lines: string[] = []
    createLog({ level: 'trace', pretty: false, to: { write: (text: string) => void lines.push(text) } }).info(
      line,
      'text',
    )
    return JSON.parse(lines[0] as string)
  }
  const names = [
    'authorization',
    'Authorization',
    'cookie',
    'Set-Cookie',
    'set-cookie',
    'x-api-key',
    'token',
    'robot_token',
    'ticket',
    'key',
    'secret',
    'password',
    'client_secret',
    'id_token',
    'access_token',
    'refresh_token',
    'code',
  ]

  test.each(names)('redacts %s at any depth', (name) => {
    const field = { [name]: 'hidden', kept: 'shown' }
    const error = Object.assign(new Error('failed'), { config: { headers: field } })
    for (const line of [field, { headers: field }, { a: { b: [{ c: field }] } }, { err: error }]) {
      const text = JSON.stringify(logged(line))
      expect(text).not.toContain('hidden')
      expect(text).toContain('shown')
    }
    expect(logged({ list: { [name]: ['hidden', { deeper: 'hidden' }] } })).toMatchObject({
      list: { [name]: '[redacted]' },
    })
  })

  test('redacts keys and session tokens in plain text', () => {
    const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl-_'
    const error = new Error(`no user for ${jwt}`, { cause: new Error('svc_live_abcDEF123 was refused') })
    const line = JSON.stringify(logged({ err: error, note: `Bearer ${jwt}` }))
    expect(line).not.toContain('abcDEF123')
    expect(line).not.toContain('c2lnbmF0dXJl')
    expect(line).toContain('was refused')
  })

  test('redacts the tokens of links to recordings in paths', () => {
    const token = 'mJ8-tokenOfALink_43charactersLongAsTheyAreAll'
    for (const path of [`/api/shared/recordings/${token}/file`, `https://hub.example/replay/${token}?t=3`]) {
      expect(logged({ path }).path, path).toBe(path.replace(token, '[redacted]'))
    }
  })

  test('redacts them in the middle of other text', () => {
    const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl'
    for (const note of [`__session=${jwt}; a=b`, `bearer.${jwt}`, `old-${jwt}`, `x_${jwt}.`]) {
      expect(logged({ note }).note, note).not.toContain('c2lnbmF0dXJl')
    }
    expect(logged({ note: 'my_svc_live_abcDEF123' }).note).not.toContain('abcDEF123')
  })

  test('keeps the fields that explain a failure', () => {
    const error = Object.assign(new TypeError('no connection'), { code: 'ECONNREFUSED', port: 5432 })
    expect(logged({ err: error, at: new Date(0), nothing: null, userId: 'u' })).toMatchObject({
      err: { type: 'TypeError', message: 'no connection', code: 'ECONNREFUSED', port: 5432 },
      at: '1970-01-01T00:00:00.000Z',
      nothing: null,
      userId: 'u',
      msg: 'text',
    })
    expect(logged({ err: error }).err).toHaveProperty('stack', expect.stringContaining('log.test'))
  })

  test('handles circular references', () => {
    const loop: Record<string, unknown> = { name: 'loop' }
    loop.self = loop
    expect(logged({ loop })).toMatchObject({ loop: { name: 'loop' } })
  })
})
