export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on arbitrary received data
  readonly body: any
}

/** Sends one request with custom headers; sends a body that is not a string as JSON. */
export async function ask(
  url: string,
  options: { method?: string; headers?: Record<string, string>; token?: string; body?: unknown } = {},
): Promise<Answer> {
  const { method = 'GET', headers = {}, token, body } = options
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const json = text !== '' && response.headers.get('Content-Type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text }
}
