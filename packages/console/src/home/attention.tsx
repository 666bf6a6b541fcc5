import { Group, List, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Section } from '../base/section.tsx'
import type { ShapeName } from '../status/shapes.tsx'
import { StateLabel } from '../status/state-label.tsx'

/** One thing that needs the user's attention. */
export interface AttentionItem {
  readonly id: string
  /** One word. */
  readonly label: string
  readonly shape: ShapeName
  /** Its robot, invoice or queue, usually as a link. */
  readonly subject: ReactNode
  /** Why, as a sentence or a phrase. */
  readonly detail?: ReactNode
  readonly action?: ReactNode
}

/** Items that are shown at once. Their pages list all. */
const SHOWN = 20

/** Lists what needs the user's attention, most urgent first. */
export const Attention = (props: { title: string; none: string; items: readonly AttentionItem[] }) => (
  <Section title={props.title} gap="xs">
    {props.items.length === 0 ? (
      <Text>{props.none}</Text>
    ) : (
      <List
        listStyleType="none"
        spacing="xs"
        styles={{ itemWrapper: { width: '100%' }, itemLabel: { width: '100%' } }}
      >
        {props.items.slice(0, SHOWN).map(({ id, label, shape, subject, detail, action }) => (
          <List.Item key={id}>
            <Group justify="space-between" gap="xs">
              <Group gap="xs">
                <StateLabel shape={shape}>{label}</StateLabel>
                {subject}
                {detail && (
                  <Text size="sm" c="dimmed">
                    {detail}
                  </Text>
                )}
              </Group>
              {action}
            </Group>
          </List.Item>
        ))}
      </List>
    )}
  </Section>
)
