import { Text } from '@mantine/core'

/** Says that a form was saved, aloud too. */
export const Saved = ({ when }: { when: boolean }) => (
  <Text size="sm" c="dimmed" role="status">
    {when ? 'Saved' : ''}
  </Text>
)
