import type { Context } from '../context.ts'

/** Prints the stored sign-ins without requests to platforms. */
export async function run(cli: Context): Promise<void> {
  const { current, profiles } = await cli.store.read()
  const rows = Object.entries(profiles).map(([name, { server, credential }]) => ({
    name,
    server,
    current: name === current,
    credential: credential.kind,
    expires_at: credential.kind === 'session' ? credential.expires_at : null,
  }))
  cli.out.list(
    rows,
    [
      { title: '', value: (row) => (row.current ? '*' : ' ') },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'PLATFORM', value: ({ server }) => server, noTruncate: true },
      { title: 'BY', value: ({ credential }) => (credential === 'api_key' ? 'API key' : 'browser') },
    ],
    'You have no sign-ins. Sign in with: wheelhouse login',
  )
}
