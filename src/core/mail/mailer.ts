import { Readable } from 'node:stream'
import { createTransport } from 'nodemailer'
import { classifyMailError, MailError } from './mail-error.ts'

export interface Address {
  readonly name: string
  readonly address: string
}

/** Plain text to one person. Name, subject and addresses must be single lines. */
export interface Mail {
  readonly to: string
  readonly replyTo?: Address
  readonly subject: string
  readonly text: string
  /** Unique to what is said, not to the attempt, so that a receiver recognises a repetition. */
  readonly messageId: string
  /** Further headers; single lines. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface MailLimits {
  /** Until the server has answered the connection. */
  readonly connectMs: number
  /** From the beginning until the message is handed over. */
  readonly handOverMs: number
  /** From then until the server's word. Long: whoever hangs up here may send twice (RFC 5321, 4.5.3.2.6). */
  readonly answerMs: number
  /** The same once the sender has been asked to stop. */
  readonly stopMs: number
}

const defaults: MailLimits = {
  connectMs: 10_000,
  handOverMs: 30_000,
  answerMs: 600_000,
  stopMs: 3_000,
}

/** Sends mail through the configured server, one connection a message, and holds nothing in between. */
export function createMailer(deps: { url: string; from: Address; limits?: MailLimits }) {
  const { url, from, limits = defaults } = deps

  return {
    /** Where the platform's message ids belong: the domain of its sender. */
    domain: from.address.slice(from.address.indexOf('@') + 1),

    /**
     * Settles when the server has taken the message over (250), and then only. `stop` asks for a quick end: at
     * once before the message was handed over, otherwise after a short wait for the answer.
     * @throws MailError
     */
    async send(mail: Mail, stop?: AbortSignal): Promise<void> {
      const sendTimeout = startSendTimeout(limits, stop)
      const transport = createTransport({
        url,
        connectionTimeout: limits.connectMs,
        greetingTimeout: limits.connectMs,
        socketTimeout: limits.answerMs + limits.handOverMs, // `patience` ends it earlier
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

/** Passes a message on as it is asked for, and calls back once all of it has been. */
function onStreamEnd(input: AsyncIterable<Buffer>, done: () => void): Readable {
  async function* chunks() {
    yield* input
    done()
  }
  return Readable.from(chunks(), { objectMode: false })
}

/** How long the sending of one message may go on: short until it is handed over, long from then on. */
function startSendTimeout(limits: MailLimits, stop: AbortSignal | undefined) {
  const ended = new AbortController()
  let handedOver = false
  let timer: NodeJS.Timeout
  const endAfter = (ms: number) => {
    const reason = stop?.aborted ? 'The platform was stopping' : `No answer within ${ms / 1_000} s`
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
