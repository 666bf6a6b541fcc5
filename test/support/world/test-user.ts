import { TestHubSocket } from '../hub/hub-socket.ts'

export interface Reply {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on arbitrary received data
  readonly body: any
}

/** A user with a session token, who uses the platform from outside. */
export type TestUser = Awaited<ReturnType<typeof createTestUser>>

export async function createTestUser(parts: {
  baseUrl: string
  hubUrl: string
  token: string
  onClose: (close: () => unknown) => void
}) {
  const { baseUrl, hubUrl, token } = parts
  const request = async (
    method: string,
    path: string,
    body?: unknown,
    credential = token,
  ): Promise<Reply> => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        ...(credential && { Authorization: `Bearer ${credential}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
  }
  const profile = await request('GET', '/api/auth/profile')

  return {
    id: profile.body.id as string,
    name: profile.body.display_name as string,
    token,
    request,
    get: (path: string) => request('GET', path),
    post: (path: string, body: unknown = {}) => request('POST', path, body),
    patch: (path: string, body: unknown) => request('PATCH', path, body),
    delete: (path: string) => request('DELETE', path),

    /** Creates an API key of this user. */
    async key(): Promise<{ id: string; key: string }> {
      const reply = await request('POST', '/api/auth/api-keys', { name: 'test' })
      return { id: reply.body.id, key: reply.body.key }
    },

    /** A connected plain Socket.IO client. */
    async hub(options: { url?: string; token?: string } = {}): Promise<TestHubSocket> {
      const socket = new TestHubSocket(options.url ?? hubUrl, options.token ?? token)
      parts.onClose(() => socket.close())
      await socket.connected()
      return socket
    },
  }
}
