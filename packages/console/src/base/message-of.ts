import { t } from '../texts/texts.ts'

/** Browser messages for failed requests and failed imports. */
const NO_NETWORK = /failed to fetch|networkerror|load failed|imported module|importing a module/i

/** Messages for errors of the live connection, by SDK error name. */
const live: Readonly<Record<string, string>> = {
  NotConnectedError: t('ui.problem.noLiveConnection'),
  UnacknowledgedError: t('ui.problem.unacknowledged'),
  HubClosedError: t('ui.problem.liveEnded'),
}

/** Returns a readable message for an error. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return t('ui.problem.unexpected')
  if (NO_NETWORK.test(error.message) || ('status' in error && error.status === 0))
    return t('ui.problem.unreachable')
  return live[error.name] ?? withLabels(errorText(error))
}

/** Returns a text with a final full stop. */
export const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** Replaces field names in a message of the server by labels: `contact_email: must …` becomes `Contact email: must …`. */
const withLabels = (text: string): string =>
  text.replace(/(^|; )([a-z]+(?:[_A-Z][A-Za-z]*)*)(?:\.[\w.]+)?: /g, (_, before: string, name: string) => {
    const words = name.replace(/_?([A-Z])|_/g, (_all, capital: string = '') => ` ${capital.toLowerCase()}`)
    return `${before}${words.charAt(0).toUpperCase()}${words.slice(1)}: `
  })

/** `t` for keys that contain codes: the English catalogue does not have them. */
const read = t as (key: string) => string

/** Returns the text of an error code in the viewer's language; undefined in English and for codes without a translation. */
function translation(code: string): string | undefined {
  const key = `errors.${code}`
  const text = read(key)
  return text === key ? undefined : text
}

/**
 * Returns the text of an error in the viewer's language, by the code of the REST API. In English, and for codes whose messages
 * name values that only the server knows, it is the message of the server.
 */
export function errorText(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return (code !== undefined && translation(code)) || error.message
}
