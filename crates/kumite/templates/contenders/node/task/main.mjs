// A job brings all parameters: params.things. What is returned is the result.
import { serve } from "../../kits/node/kumite-kit.mjs";

serve("node", async ({ params }) => {
  return { "not written yet": params };
});
