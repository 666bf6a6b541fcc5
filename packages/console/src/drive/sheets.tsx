import { Kbd, Modal, Stack, Table } from '@mantine/core'
import type { LiveSession } from '../live/hooks.ts'
import { EventLog } from '../session/event-log.tsx'
import { ExtensionPanel } from '../session/extension-panel.tsx'
import { Section } from '../ui/section.tsx'
import { useStore } from '../ui/store.ts'
import type { Cockpit } from './cockpit.ts'
import { ControlsSheet } from './controls-sheet.tsx'
import type { Hud, HudSheet } from './hud.ts'

interface Props {
  readonly cockpit: Cockpit
  readonly live: LiveSession
  readonly hud: Hud
}

const titles: Record<HudSheet, string> = {
  keys: 'Keys',
  controls: 'Controls',
  details: 'Session log',
}

/** Shows the open sheet of the cockpit, above the picture and below the stop. */
export function Sheets({ cockpit, live, hud }: Props) {
  const sheet = useStore(hud.sheet)
  return (
    <Modal
      opened={sheet !== undefined}
      onClose={() => hud.sheet.set(undefined)}
      title={sheet && titles[sheet]}
      size="lg"
    >
      {sheet === 'keys' && <Keys />}
      {sheet === 'controls' && <ControlsSheet cockpit={cockpit} />}
      {sheet === 'details' && (
        <Stack>
          <Section gap="xs" title="Extension">
            <ExtensionPanel live={live} />
          </Section>
          <Section gap="xs" title="Event log">
            <EventLog live={live} />
          </Section>
        </Stack>
      )}
    </Modal>
  )
}

/** The keys of the cockpit and what they do. */
const keyTexts: readonly (readonly [keys: readonly string[], text: string])[] = [
  [['Space', 'Esc'], 'Stop the robot. Esc works in text fields too.'],
  [['↑', '↓', '←', '→'], 'Drive while held. W A S D do the same.'],
  [['[', ']'], 'Lower or raise the speed limit'],
  [['P'], 'Pause the session'],
  [['R'], 'Resume the session'],
  [['C'], 'Ask to clear a stop of the owner'],
  [['Enter'], 'Write in the chat'],
  [['M'], 'Swap picture and map'],
  [['T'], 'Show or hide all telemetry'],
  [['`'], 'Show or hide the overlay'],
  [['F'], 'Full screen'],
  [['?'], 'Show these keys'],
]

const Keys = () => (
  <Table aria-label="Keys">
    <Table.Tbody>
      {keyTexts.map(([keys, text]) => (
        <Table.Tr key={text}>
          <Table.Td>
            {keys.map((key) => (
              <Kbd key={key} mr={4}>
                {key}
              </Kbd>
            ))}
          </Table.Td>
          <Table.Td>{text}</Table.Td>
        </Table.Tr>
      ))}
    </Table.Tbody>
  </Table>
)
