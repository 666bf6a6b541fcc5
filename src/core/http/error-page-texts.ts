/** The texts of error pages in English. They type the other languages, so a missing or surplus text does not compile. */
const en = {
  titles: {
    401: 'Sign in first',
    403: 'Not allowed',
    404: 'Page not found',
    405: 'Method not allowed',
    429: 'Too many requests',
    503: 'Temporarily unavailable',
  } as Readonly<Record<number, string>>,
  failed: 'The request failed',
  wentWrong: 'Something went wrong',
  noPage: (path: string): string => `There is no page at ${path}.`,
  tryAgain: 'Try again',
  openConsole: 'Open console',
  frontPage: 'Front page',
  guides: 'Guides',
  request: 'Request',
}

const de: typeof en = {
  titles: {
    401: 'Bitte melden Sie sich an',
    403: 'Nicht erlaubt',
    404: 'Seite nicht gefunden',
    405: 'Methode nicht erlaubt',
    429: 'Zu viele Anfragen',
    503: 'Vorübergehend nicht verfügbar',
  },
  failed: 'Die Anfrage ist fehlgeschlagen',
  wentWrong: 'Es ist ein Fehler aufgetreten',
  noPage: (path) => `Unter ${path} gibt es keine Seite.`,
  tryAgain: 'Erneut versuchen',
  openConsole: 'Konsole öffnen',
  frontPage: 'Startseite',
  guides: 'Anleitungen',
  request: 'Anfrage',
}

/** The texts of error pages by language. */
export const errorPageTexts = { en, de }

/** A language of error pages, as an ISO 639 code. */
export type ErrorPageLanguage = keyof typeof errorPageTexts
