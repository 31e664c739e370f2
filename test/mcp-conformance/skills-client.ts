// A client of the suite's servers: lists skills, and reads them if the scenario is about what it reads.
import { connectToMcp, createHttpTransport, skillsFromMcp } from '../../packages/foldout/src/entries/mcp.ts'

const url = process.argv.at(-1) ?? ''
const session = await connectToMcp(createHttpTransport(url), { name: 'foldout-conformance', version: '1.0.0' })
const skills = await skillsFromMcp(session)
if (!process.argv.includes('--only-list'))
  for (const skill of skills) {
    try {
      await skill.load?.()
      for (const file of skill.files) await file.read()
    } catch (error) {
      console.error(String(error))
    }
  }
await session.close()
