import { Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'

/** Something that is shown this once, or is tedious to type: selectable, and copied with one button. */
export const CopyableSecret = ({ label, value }: { label: string; value: string }) => (
  <Stack gap={4}>
    <Text fw={600} size="sm">
      {label}
    </Text>
    <Group wrap="nowrap" align="flex-start">
      <Code block flex={1} style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
        {value}
      </Code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Button variant="default" onClick={copy} aria-live="polite">
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </Group>
  </Stack>
)

/** What somebody has to know about the secret below: it takes the focus, so that it is read aloud when it appears. */
export const SecretNote = ({ children }: { children: ReactNode }) => (
  <Text tabIndex={-1} ref={(note: HTMLElement | null) => note?.focus()}>
    {children}
  </Text>
)
