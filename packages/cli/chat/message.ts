import { CHAT_BODY_MAX, ChatBody, ClientMessageId } from '@wheelhouse/protocol'
import { HubClosedError, NotConnectedError, UnacknowledgedError } from '@wheelhouse/sdk'
import { Failure } from '../failure.ts'

export interface ChatOptions {
  readonly messageId?: string
  /** Longest time to wait for the confirmation, in seconds. */
  readonly wait: number
  readonly history: number
}

/** Returns the text without a final line break. @throws Failure for an invalid message */
export function validateMessage(text: string): string {
  const body = ChatBody.safeParse(text.replace(/\r?\n$/, ''))
  if (body.success) return body.data
  throw new Failure('usage', `A message must have 1 to ${CHAT_BODY_MAX} characters, and not only spaces`)
}

/** Returns the id unchanged. @throws Failure for an invalid id */
export function validateMessageId(id: string | undefined): string | undefined {
  if (id === undefined || ClientMessageId.safeParse(id).success) return id
  throw new Failure('usage', 'The --message-id must have 1 to 100 printable ASCII characters.')
}

/** Returns the failure of one message in a few words. */
export function failureText(cause: unknown): string {
  if (cause instanceof UnacknowledgedError || cause instanceof NotConnectedError) {
    return 'not confirmed: the message may or may not have arrived'
  }
  if (cause instanceof HubClosedError) return 'the connection is closed'
  return cause instanceof Error ? cause.message : String(cause)
}
