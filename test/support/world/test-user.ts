import { TestHubSocket } from '../hub/hub-socket.ts'

export interface Reply {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on arbitrary received data
  readonly body: any
}

/** A user with a session token, who uses the platform from outside. */
export interface TestUser {
  readonly id: string
  readonly name: string
  readonly token: string
  /** The organization that the user acts for; undefined for the personal one. */
  readonly organizationId: string | undefined
  request(method: string, path: string, body?: unknown, credential?: string): Promise<Reply>
  get(path: string): Promise<Reply>
  post(path: string, body?: unknown): Promise<Reply>
  patch(path: string, body: unknown): Promise<Reply>
  delete(path: string): Promise<Reply>
  /** Creates an API key of this user. */
  key(): Promise<{ id: string; key: string }>
  /** A connected plain Socket.IO client. */
  hub(options?: { url?: string; token?: string }): Promise<TestHubSocket>
  /** Returns the same user while acting for an organization. */
  actingFor(organizationId: string): Promise<TestUser>
}

export async function createTestUser(parts: {
  baseUrl: string
  hubUrl: string
  token: string
  onClose: (close: () => unknown) => void
  /** The organization that the user acts for; by default the personal one. */
  organizationId?: string
}): Promise<TestUser> {
  const { baseUrl, hubUrl, token, organizationId } = parts
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
        ...(organizationId && { 'Wheelhouse-Organization': organizationId }),
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
    organizationId,
    request,
    get: (path: string) => request('GET', path),
    post: (path: string, body: unknown = {}) => request('POST', path, body),
    patch: (path: string, body: unknown) => request('PATCH', path, body),
    delete: (path: string) => request('DELETE', path),

    async key() {
      const reply = await request('POST', '/api/auth/api-keys', { name: 'test' })
      return { id: reply.body.id, key: reply.body.key }
    },

    async hub(options = {}) {
      const socket = new TestHubSocket(options.url ?? hubUrl, options.token ?? token, organizationId)
      parts.onClose(() => socket.close())
      await socket.connected()
      return socket
    },

    actingFor: (id) => createTestUser({ ...parts, organizationId: id }),
  }
}
