import { Box, Kbd, Modal, TextInput } from '@mantine/core'
import { type ComponentType, type KeyboardEvent, type MouseEvent, useState } from 'react'
import { IconDoorExit, IconPause, IconPlay, IconSearch } from '../base/icons.tsx'
import { useStore } from '../base/store.ts'
import { t } from '../texts/texts.ts'
import styles from './command-menu.module.css'
import type { Hud } from './hud.ts'

export interface Command {
  readonly id: string
  readonly icon: ComponentType<{ size?: number }>
  readonly label: string
  readonly hint?: string
  readonly isDisabled?: boolean
  /** Why it is disabled, or what happened to it. */
  readonly note?: string | undefined
  /** For a command that lasts while its button is held, in place of `run`. The menu stays open. */
  readonly hold?: { begin(): void; end(): void }
  readonly run: () => void
}

export interface CommandGroup {
  readonly title: string
  readonly commands: readonly Command[]
}

interface Props {
  readonly hud: Hud
  readonly groups: readonly CommandGroup[]
  /** What happens to the robot while the menu is open. */
  readonly note: string
}

/** Lists the commands of the cockpit and finds them by their names. The stop stays above it. */
export function CommandMenu({ hud, ...props }: Props) {
  const isOpen = useStore(hud.sheet) === 'menu'
  const close = () => hud.sheet.set(undefined)
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={t('drive.menu.title')}
      centered={false}
      yOffset="8dvh"
      size={600}
      // While it fades out, it would still take the keys of the page.
      transitionProps={{ exitDuration: 0 }}
      styles={{ header: { minHeight: 0, padding: '0.75rem 1.1rem 0' }, body: { padding: 0 } }}
    >
      {isOpen && <CommandList {...props} onClose={close} />}
    </Modal>
  )
}

export function CommandList({ groups, note, onClose }: Omit<Props, 'hud'> & { onClose: () => void }) {
  const [search, setSearch] = useState('')
  const [active, setActive] = useState(0)
  const words = search.trim().toLowerCase()
  const shown = groups
    .map(({ title, commands }) => ({
      title,
      commands: commands.filter(({ label }) => label.toLowerCase().includes(words)),
    }))
    .filter(({ commands }) => commands.length > 0)
  const all = shown.flatMap(({ commands }) => commands)
  const perform = (command: Command | undefined) => {
    if (!command || command.isDisabled || command.hold) return
    onClose()
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') perform(all[active])
    else if (event.key === 'ArrowDown') setActive((active + 1) % Math.max(1, all.length))
    else if (event.key === 'ArrowUp') setActive((active + all.length - 1) % Math.max(1, all.length))
    else return
    event.preventDefault()
  }
  return (
    <>
      <TextInput
        className={styles.search ?? ''}
        aria-label={t('drive.menu.search')}
        placeholder={t('drive.menu.search')}
        leftSection={<IconSearch size={18} />}
        variant="unstyled"
        size="lg"
        value={search}
        data-autofocus
        onChange={({ currentTarget: { value } }) => {
          setSearch(value)
          setActive(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div className={styles.list}>
        {shown.map(({ title, commands }) => (
          <section key={title} aria-label={title}>
            <h3 className={styles.title}>{title}</h3>
            {commands.map((command) => (
              <button
                key={command.id}
                type="button"
                className={styles.command}
                data-testid={command.id}
                data-active={all[active] === command}
                disabled={command.isDisabled}
                aria-keyshortcuts={command.hint}
                onClick={() => perform(command)}
                {...(command.hold && holdHandlers(command.hold))}
              >
                <command.icon size={18} />
                <span>
                  {command.label}
                  {command.note && (
                    <Box component="span" display="block" fz="0.8125rem" c="var(--text-2)">
                      {command.note}
                    </Box>
                  )}
                </span>
                {command.hint && (
                  <Kbd className={styles.key} aria-hidden>
                    {command.hint}
                  </Kbd>
                )}
              </button>
            ))}
          </section>
        ))}
        {all.length === 0 && <p className={styles.none}>{t('drive.menu.none')}</p>}
      </div>
      <p className={styles.note}>{note}</p>
    </>
  )
}

/** Returns what makes a button work while it is held, by a pointer or by Enter. */
export const holdHandlers = ({ begin, end }: NonNullable<Command['hold']>) => ({
  'data-hold': true,
  onPointerDown: begin,
  onPointerUp: end,
  onPointerLeave: end,
  onPointerCancel: end,
  onKeyDown: ({ key, repeat }: KeyboardEvent) => key === 'Enter' && !repeat && begin(),
  onKeyUp: end,
  onBlur: end,
  // A finger that rests would open the menu of the browser.
  onContextMenu: (event: MouseEvent) => event.preventDefault(),
})

export const sessionCommands = (options: {
  readonly isPaused: boolean
  readonly isBusy: boolean
  readonly onPause: () => void
  /** Undefined for a viewer, whom the session does not wait for. */
  readonly onResume: { readonly isPossible: boolean; readonly run: () => void } | undefined
  readonly onEnd: () => void
  readonly endLabel: string
}): CommandGroup['commands'] => {
  const { isPaused, isBusy, onPause, onResume, onEnd, endLabel } = options
  return [
    isPaused && onResume
      ? {
          id: 'pause',
          icon: IconPlay,
          label: t('drive.bar.resume'),
          hint: 'R',
          isDisabled: isBusy || !onResume.isPossible,
          run: onResume.run,
        }
      : {
          id: 'pause',
          icon: IconPause,
          label: t('drive.bar.pause'),
          hint: 'P',
          isDisabled: isBusy || isPaused,
          run: onPause,
        },
    { id: 'end', icon: IconDoorExit, label: endLabel, run: onEnd },
  ]
}
