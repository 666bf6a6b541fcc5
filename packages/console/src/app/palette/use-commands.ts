import { type MantineColorScheme, useMantineColorScheme } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useMe } from '../../auth/me.ts'
import { signOut } from '../../auth/sign-out.ts'
import { sheetOpened } from '../shortcuts/use-shortcuts.ts'
import { useNavigation } from '../use-navigation.ts'
import type { PaletteEntry } from './palette-entry.ts'

const schemes: readonly (readonly [MantineColorScheme, label: string])[] = [
  ['light', 'Use light colours'],
  ['dark', 'Use dark colours'],
  ['auto', 'Use the colours of the system'],
]

/** Returns the pages and the commands of the signed-in user. */
export function useCommands(): readonly PaletteEntry[] {
  const { roles } = useMe()
  const navigate = useNavigate()
  const { setColorScheme } = useMantineColorScheme()
  const entries = useNavigation().flatMap((group) => group.entries)
  const page = (to: string, label: string, detail: string): PaletteEntry => ({
    id: `page:${to}`,
    group: 'Pages',
    label,
    detail,
    run: () => void navigate({ to }),
  })
  const command = (label: string, run: () => void): PaletteEntry => ({
    id: `command:${label}`,
    group: 'Commands',
    label,
    detail: '',
    run,
  })
  return [
    page('/', 'Home', ''),
    ...entries.map(({ to, label, description }) => page(to, label, description)),
    ...(roles.includes('client')
      ? [command('Register robot', () => void navigate({ to: '/robots/new' }))]
      : []),
    command('Show keyboard shortcuts', () => sheetOpened.set(true)),
    ...schemes.map(([scheme, label]) => command(label, () => setColorScheme(scheme))),
    command('Sign out', () => void signOut()),
  ]
}
