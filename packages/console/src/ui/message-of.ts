/** What a browser says of a request, or a part of this page, that did not come. */
const NO_NETWORK = /failed to fetch|networkerror|load failed|imported module|importing a module/i
const UNREACHABLE =
  'The platform cannot be reached. Check your connection; what you have entered is still here. Then try again.'

/** Failures of the live connection, by the names that the SDK gives them. */
const live: Readonly<Record<string, string>> = {
  NotConnectedError: 'There is no live connection just now. Try again when it is back.',
  UnacknowledgedError: 'The platform did not confirm it. Look whether it was done before you try again.',
  HubClosedError: 'The live connection has ended. Reload the page.',
}

/** Returns a failure in words for people. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return 'Something unexpected happened. Try again.'
  if (NO_NETWORK.test(error.message) || ('status' in error && error.status === 0)) return UNREACHABLE
  return live[error.name] ?? withLabels(error.message)
}

/** Returns a text as a sentence, so that another can follow. */
export const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** Names fields as forms do: `contact_email: must …` becomes `Contact email: must …`. */
const withLabels = (text: string): string =>
  text.replace(/(^|; )([a-z]+(?:[_A-Z][A-Za-z]*)*)(?:\.[\w.]+)?: /g, (_, before: string, name: string) => {
    const words = name.replace(/_?([A-Z])|_/g, (_all, capital: string = '') => ` ${capital.toLowerCase()}`)
    return `${before}${words.charAt(0).toUpperCase()}${words.slice(1)}: `
  })
