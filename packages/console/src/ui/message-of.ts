/** Browser messages for failed requests and failed imports. */
const NO_NETWORK = /failed to fetch|networkerror|load failed|imported module|importing a module/i
const UNREACHABLE = 'Cannot reach the platform. Check your connection and try again. Your input is kept.'

/** Messages for errors of the live connection, by SDK error name. */
const live: Readonly<Record<string, string>> = {
  NotConnectedError: 'No live connection. Try again when you are back online.',
  UnacknowledgedError: 'The platform did not confirm the action. Check its result before you try again.',
  HubClosedError: 'The live connection ended. Reload the page.',
}

/** Returns a readable message for an error. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return 'Unexpected error. Try again.'
  if (NO_NETWORK.test(error.message) || ('status' in error && error.status === 0)) return UNREACHABLE
  return live[error.name] ?? withLabels(error.message)
}

/** Returns a text with a final full stop. */
export const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** Replaces field names by labels: `contact_email: must …` becomes `Contact email: must …`. */
const withLabels = (text: string): string =>
  text.replace(/(^|; )([a-z]+(?:[_A-Z][A-Za-z]*)*)(?:\.[\w.]+)?: /g, (_, before: string, name: string) => {
    const words = name.replace(/_?([A-Z])|_/g, (_all, capital: string = '') => ` ${capital.toLowerCase()}`)
    return `${before}${words.charAt(0).toUpperCase()}${words.slice(1)}: `
  })
