import { type Browser, chromium } from 'playwright-core'

/** Starts the installed Chromium, headless and without background requests. @param flags further flags */
export function launchChromium(executablePath: string, flags: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-sync',
      '--disable-background-networking',
      '--disable-component-update',
      ...flags,
    ],
  })
}
