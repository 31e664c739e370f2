// Runs the example of a host, such as `npx tsx examples/hosts/run.ts langchain`, with the packages that its tests install.
// In a program of your own, install the host's package, and run the example by itself.
import { useHostPackages } from '../../tools/host-packages.ts'

const [host = 'own-loop'] = process.argv.slice(2)
useHostPackages([host])
await import(`./${host.replace(/-7$/, '')}.ts`)
