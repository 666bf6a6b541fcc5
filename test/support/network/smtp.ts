import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'

/**
 * How the server treats mail: accepts it; never greets; refuses a recipient or a whole message; drops the connection
 * inside a message, or after all of it without an answer; delays its answer until `release`.
 */
export type MailServerMode =
  | 'takes'
  | 'never greets'
  | { readonly refuses: 'recipient' | 'message'; readonly code: number }
  | 'dies within'
  | 'dies after'
  | 'waits'

export interface ReceivedMail {
  readonly from: string
  readonly to: readonly string[]
  readonly messageId: string
  /** The headers, unfolded, and the text after the empty line. */
  readonly headers: string
  readonly body: string
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>

/** Creates a real SMTP server on a free port, which can be stopped and started again. */
export async function startMailServer() {
  /** Messages that were answered with 250. */
  const taken: ReceivedMail[] = []
  /** All complete messages, answered or not. */
  const seen: ReceivedMail[] = []
  const held = new Set<() => void>()
  let mode: MailServerMode = 'takes'
  let port = 0
  let connections = 0
  let server: SMTPServer | undefined

  const refusal = (code: number) => Object.assign(new Error('not this one'), { responseCode: code })
  const socketOf = (session: SMTPServerSession): Socket => {
    for (const connection of server?.connections ?? []) {
      if (connection.id === session.id) return connection._socket as Socket
    }
    throw new Error('a session without a connection')
  }

  async function receive(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> {
    if (mode === 'dies within') {
      socketOf(session).destroy()
      return await new Promise(() => {})
    }
    const mail = readMail(await textOf(stream), session)
    seen.push(mail)
    if (mode === 'dies after') {
      socketOf(session).destroy()
      return await new Promise(() => {})
    }
    if (typeof mode === 'object' && mode.refuses === 'message') throw refusal(mode.code)
    if (mode === 'waits') await new Promise<void>((release) => held.add(release))
    taken.push(mail)
    return 'taken'
  }

  async function start(): Promise<void> {
    if (server) return
    server = new SMTPServer({
      disabledCommands: ['STARTTLS', 'AUTH'],
      logger: false,
      closeTimeout: 1,
      onConnect(_session, callback) {
        connections++
        if (mode !== 'never greets') callback()
      },
      onRcptTo(_address, _session, callback) {
        const refuses = typeof mode === 'object' && mode.refuses === 'recipient'
        callback(refuses ? refusal((mode as { code: number }).code) : null)
      },
      onData(stream, session, callback) {
        receive(stream, session).then((answer) => callback(null, answer), callback)
      },
    })
    server.on('error', () => {}) // aborted connections
    server.listen(port, '127.0.0.1')
    await once(server.server, 'listening')
    port = (server.server.address() as AddressInfo).port
  }

  async function stop(): Promise<void> {
    const ending = server
    server = undefined
    if (ending) await new Promise<void>((done) => ending.close(done))
  }

  function release(): void {
    for (const answer of held) answer()
    held.clear()
  }

  await start()
  return {
    taken,
    seen,
    start,
    /** Refuses new connections, and closes the open ones. */
    stop,
    url: `smtp://127.0.0.1:${port}`,
    /** The settings of a platform that uses this server. */
    env: {
      SMTP_URL: `smtp://127.0.0.1:${port}`,
      MAIL_FROM: 'Wheelhouse <hub@wheelhouse.test>',
      CONTACT_TO: 'support@wheelhouse.test',
    },
    is(next: MailServerMode) {
      mode = next
    },
    /** Answers the waiting messages, and accepts mail again after a test. */
    async reset() {
      mode = 'takes'
      release()
      await start()
    },
    /** Messages without an answer yet. */
    held: () => held.size,
    /** Answers the waiting messages. */
    release,
    /** Number of connections so far. */
    connections: () => connections,
    [Symbol.asyncDispose]: stop,
  }
}

async function textOf(stream: SMTPServerDataStream): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

function readMail(text: string, session: SMTPServerSession): ReceivedMail {
  const { mailFrom, rcptTo } = session.envelope
  const end = text.indexOf('\r\n\r\n')
  const headers = text.slice(0, end).replace(/\r\n[ \t]+/g, ' ')
  return {
    from: mailFrom ? mailFrom.address : '',
    to: rcptTo.map((item) => item.address),
    messageId: /^Message-ID: (.*)$/im.exec(headers)?.[1] ?? '',
    headers,
    body: text.slice(end + 4),
  }
}
