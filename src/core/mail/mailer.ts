import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { createTransport } from 'nodemailer'
import { classifyMailError, MailError } from './mail-error.ts'

export interface Address {
  readonly name: string
  readonly address: string
}

/** A mail to one recipient. Name, subject and addresses must be single lines. */
export interface Mail {
  readonly to: string
  readonly replyTo?: Address
  readonly subject: string
  readonly text: string
  /** The same content for mail programs that show HTML. */
  readonly html?: string
  /** Identifies the content, not the attempt, so that the recipient can detect a duplicate. */
  readonly messageId: string
  /** Additional headers. Each value is a single line. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface MailLimits {
  /** The limit until the server has answered the connection. */
  readonly connectMs: number
  /** The limit from the start until the message is transmitted. */
  readonly handOverMs: number
  /**
   * The limit from then until the response of the server. Long, because a sender that hangs up here may send twice
   * (RFC 5321, 4.5.3.2.6).
   */
  readonly answerMs: number
  /** The same limit once the sender is stopping. */
  readonly stopMs: number
}

const defaults: MailLimits = {
  connectMs: 10_000,
  handOverMs: 30_000,
  answerMs: 600_000,
  stopMs: 3_000,
}

/** Creates a mailer for the configured server. It opens one connection per mail and keeps no connection open. */
export function createMailer(deps: { url: string; from: Address; limits?: MailLimits }) {
  const { url, from, limits = defaults } = deps

  return {
    /** The domain of message ids: the domain of the sender address. */
    domain: from.address.slice(from.address.indexOf('@') + 1),

    /**
     * Sends a mail. Resolves only when the server has accepted it (250). `stop` requests a quick end: at once before
     * the message is transmitted, afterwards after a short wait for the response.
     * @throws MailError
     */
    async send(mail: Mail, stop?: AbortSignal): Promise<void> {
      const sendTimeout = startSendTimeout(limits, stop)
      const transport = createTransport({
        url,
        connectionTimeout: limits.connectMs,
        greetingTimeout: limits.connectMs,
        socketTimeout: limits.answerMs + limits.handOverMs, // `startSendTimeout` limits it
        socketCloseTimeout: 1_000,
        disableFileAccess: true,
        disableUrlAccess: true,
      })
      transport.use('stream', ({ message }, done) => {
        message.processFunc((input) => onStreamEnd(input, sendTimeout.handedOver))
        done()
      })
      try {
        await transport.sendMail({
          from,
          to: { name: '', address: mail.to },
          ...(mail.replyTo && { replyTo: mail.replyTo }),
          subject: mail.subject,
          text: mail.text,
          ...(mail.html !== undefined && { html: mail.html, baseBoundary: boundaryOf(mail) }),
          messageId: mail.messageId,
          ...(mail.headers && { headers: { ...mail.headers } }),
          signal: sendTimeout.signal,
        })
      } catch (cause) {
        throw new MailError(classifyMailError(cause), { cause, handedOver: sendTimeout.isHandedOver() })
      } finally {
        sendTimeout.end()
      }
    },
  }
}
export type Mailer = ReturnType<typeof createMailer>

/** Returns the separator of the parts. It is the same at every attempt, as the rest of the message is. */
const boundaryOf = ({ messageId }: Mail) => createHash('sha256').update(messageId).digest('hex').slice(0, 24)

/** Returns the message as a stream, and calls `done` once it has been read completely. */
function onStreamEnd(input: AsyncIterable<Buffer>, done: () => void): Readable {
  async function* chunks() {
    yield* input
    done()
  }
  return Readable.from(chunks(), { objectMode: false })
}

/**
 * Aborts the sending of one message: after a short limit until it is transmitted, after a long limit from then on.
 */
function startSendTimeout(limits: MailLimits, stop: AbortSignal | undefined) {
  const ended = new AbortController()
  let handedOver = false
  let timer: NodeJS.Timeout
  const endAfter = (ms: number) => {
    const reason = stop?.aborted
      ? 'The platform was stopping'
      : `The mail server did not respond within ${ms / 1_000} s`
    clearTimeout(timer)
    timer = setTimeout(() => ended.abort(new Error(reason)), ms)
  }
  const onStop = () => endAfter(handedOver ? limits.stopMs : 0)
  endAfter(stop?.aborted ? 0 : limits.handOverMs)
  stop?.addEventListener('abort', onStop, { once: true })
  return {
    signal: ended.signal,
    isHandedOver: () => handedOver,
    handedOver() {
      handedOver = true
      endAfter(stop?.aborted ? limits.stopMs : limits.answerMs)
    },
    end() {
      clearTimeout(timer)
      stop?.removeEventListener('abort', onStop)
    },
  }
}
