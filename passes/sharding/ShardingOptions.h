//===- ShardingOptions.h - Options of training on several ranks -------------------------------===//

#ifndef MTC_PASSES_SHARDING_SHARDINGOPTIONS_H
#define MTC_PASSES_SHARDING_SHARDINGOPTIONS_H

#include "passes/OptionTable.h"
#include "passes/cost/Network.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// Options of mtc-set-ranks.
struct ShardingOptions {
  std::optional<int64_t> ranks;         ///< Nothing: a program of one process, without collectives.
  int64_t tensor = 1;                   ///< Ranks that share each layer.
  std::optional<int64_t> tensorChunks;  ///< Nothing: as many as ranks share a layer.
  std::optional<int64_t> tensorTiles;   ///< Nothing: as the cost model chooses.
  int64_t tensorSeed = 0;               ///< 0: axes are not drawn.
  int64_t context = 1;                  ///< Ranks that share each sequence.
  std::optional<int64_t> contextChunks; ///< Nothing: as many as ranks share a sequence.
  std::optional<int64_t> pipeline;      ///< Nothing: no stages, and sums as without them.
  std::string shard = "none", reduce = "every";
  std::string network; ///< "": that of the ranks of one machine.

  bool hasRanks() const { return ranks.value_or(0) != 0; }
  /// Returns the number of consecutive ranks that have the same samples.
  int64_t getSharingRanks() const { return tensor * context; }
  /// Returns the number of ranks, or of groups that share samples, with samples of their own.
  int64_t getDataRanks() const {
    return ranks.value_or(1) / getSharingRanks() / std::max<int64_t>(pipeline.value_or(1), 1);
  }
  /// Returns what is wrong with a number of addends, of which ranks that divide an axis compute
  /// equal shares; "" if nothing is.
  std::string refuseChunks(const std::optional<int64_t> &chunks, int64_t sharing,
                           llvm::StringRef flag) const {
    if (!chunks)
      return "";
    if (*chunks < 1 || *chunks > 4096)
      return "expected 1 to 4096 addends";
    if (!hasRanks())
      return "needs --ranks";
    return *chunks % std::max<int64_t>(sharing, 1)
               ? "expected a multiple of " + flag.str() + " " + std::to_string(sharing)
               : "";
  }

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&ShardingOptions::ranks,
           {.name = "ranks",
            .valueName = "N",
            .help = "Train on N processes, which mpirun starts",
            .detail = "Each process reads its own batches. A step has the loss and the update of "
                      "one process that accumulates all of them, bit for bit: 2 ranks with "
                      "--accumulate 3 are 1 rank with --accumulate 6.",
            .defaultText = "one process"},
           [](const ShardingOptions &all) -> std::string {
             bool isValid = !all.ranks || (*all.ranks >= 1 && *all.ranks <= 4096);
             return isValid ? "" : "expected 1 to 4096 ranks";
           });
    option(&ShardingOptions::tensor,
           {.name = "tensor",
            .valueName = "T",
            .help = "Ranks that share the work and the variables of each layer",
            .detail = "Each T consecutive ranks compute with the same batches. --ranks / T groups "
                      "of them read batches of their own, and --shard divides variables further "
                      "among the groups."},
           [](const ShardingOptions &all) -> std::string {
             if (all.tensor < 1)
               return "expected at least 1 rank";
             if (all.tensor > 1 && !all.hasRanks())
               return "needs --ranks";
             return all.tensor > 1 && *all.ranks % all.tensor
                        ? "does not divide --ranks " + std::to_string(*all.ranks)
                        : "";
           });
    option(&ShardingOptions::tensorChunks,
           {.name = "tensor-chunks",
            .valueName = "C",
            .help = "Addends of each sum over an axis that ranks of --tensor divide",
            .detail = "All programs with C chunks have the same results, for each T of --tensor "
                      "that divides C; 1 rank computes the addends one after the other.",
            .defaultText = "T of --tensor"},
           [](const ShardingOptions &all) {
             return all.refuseChunks(all.tensorChunks, all.tensor, "--tensor");
           });
    option(&ShardingOptions::tensorTiles,
           {.name = "tensor-tiles",
            .valueName = "N",
            .help = "Tiles of contractions that ranks of a layer exchange",
            .detail = "A tile is exchanged while the next one is computed. Results are the same, "
                      "bit for bit, if the library adds in an order that does not depend on the "
                      "number of rows. 1: no tiles.",
            .defaultText = "fastest by the cost model"},
           [](const ShardingOptions &all) -> std::string {
             if (!all.tensorTiles)
               return "";
             if (*all.tensorTiles < 1 || *all.tensorTiles > 64)
               return "expected 1 to 64 tiles";
             return all.hasRanks() ? "" : "needs --ranks";
           });
    option(&ShardingOptions::context,
           {.name = "context",
            .valueName = "C",
            .help = "Ranks that share each sequence",
            .detail = "Each rank computes its part of the elements of every sequence, such as "
                      "tokens, and keeps only its part of the activations. Weights are whole, or "
                      "divided by --tensor. Rank r is number r / T modulo C of its group."},
           [](const ShardingOptions &all) -> std::string {
             if (all.context < 1)
               return "expected at least 1 rank";
             if (all.context == 1)
               return "";
             if (!all.hasRanks())
               return "needs --ranks";
             return *all.ranks % std::max<int64_t>(all.getSharingRanks(), 1)
                        ? "--ranks " + std::to_string(*all.ranks) + " is not a multiple of " +
                              (all.tensor > 1 ? "--tensor " + std::to_string(all.tensor) + " times "
                                              : "") +
                              std::to_string(all.context)
                        : "";
           });
    option(&ShardingOptions::contextChunks,
           {.name = "context-chunks",
            .valueName = "K",
            .help = "Addends of each sum over the elements of sequences",
            .detail = "All programs with K chunks have the same results, for each C of --context "
                      "that divides K; 1 rank computes the addends one after the other.",
            .defaultText = "C of --context"},
           [](const ShardingOptions &all) {
             return all.refuseChunks(all.contextChunks, all.context, "--context");
           });
    option(&ShardingOptions::pipeline,
           {.name = "pipeline",
            .valueName = "P",
            .help = "Stages that have different layers, and work on different micro-steps",
            .detail = "The model is cut where few bytes are sent. Each stage is run by --ranks / P "
                      "consecutive ranks, which have its variables only. All programs with "
                      "--pipeline have the same results, for each P from 1 on.",
            .defaultText = "no stages"},
           [](const ShardingOptions &all) -> std::string {
             if (!all.pipeline)
               return "";
             if (*all.pipeline < 1 || *all.pipeline > 512)
               return "expected 1 to 512 stages";
             if (!all.hasRanks())
               return "needs --ranks";
             const int64_t sharing = std::max<int64_t>(all.getSharingRanks(), 1);
             return *all.ranks % (*all.pipeline * sharing)
                        ? "--ranks " + std::to_string(*all.ranks) + " is not a multiple of " +
                              (sharing > 1 ? "the " + std::to_string(sharing) +
                                                 " ranks that share a layer, times "
                                           : "") +
                              std::to_string(*all.pipeline)
                        : "";
           });
    option(&ShardingOptions::tensorSeed,
           {.name = "tensor-seed",
            .valueName = "SEED",
            .help = "Divide axes drawn at random, for tests of --tensor",
            .detail = "Axes that send much are divided, too: programs are slow, and their losses "
                      "are equal to others up to rounding.",
            .defaultText = "divide the axes that send least"},
           [](const ShardingOptions &all) -> std::string {
             if (all.tensorSeed < 0)
               return "expected a number of at least 1";
             const bool divides = all.tensor > 1 || all.tensorChunks.value_or(1) > 1;
             return all.tensorSeed && !divides ? "needs --tensor or --tensor-chunks" : "";
           });
    option(&ShardingOptions::shard,
           {.name = "shard",
            .valueName = "WHAT",
            .help = "Variables that are divided among the ranks",
            .choices = {{"none", "data parallel: each rank has all variables"},
                        {"optimizer", "the state of the optimizer (ZeRO-1)"},
                        {"gradients", "also gradients, which are never whole (ZeRO-2)"},
                        {"parameters", "also parameters, which are gathered where a step computes "
                                       "with them (ZeRO-3, FSDP)"},
                        {"auto", "the fastest of these that meets --memory"}},
            .detail = "Each rank keeps and updates its piece of what is divided. The results are "
                      "the same, bit for bit."},
           [](const ShardingOptions &all) -> std::string {
             return all.shard == "none" || all.hasRanks() ? "" : "needs --ranks";
           });
    option(&ShardingOptions::reduce,
           {.name = "reduce",
            .valueName = "WHEN",
            .help = "When gradients are summed over the ranks",
            .choices = {{"every", "in each micro-step, in the order of one process"},
                        {"last", "once for each update, after each rank has added its own"}},
            .detail = "Summing once sends 1 / K of the bytes with --accumulate K, but each rank "
                      "holds whole gradients, and the order of summation depends on the number of "
                      "ranks."},
           [](const ShardingOptions &all) -> std::string {
             if (all.reduce != "last")
               return "";
             if (!all.hasRanks())
               return "needs --ranks";
             return all.shard == "gradients" || all.shard == "parameters"
                        ? "each rank holds whole gradients, which --shard " + all.shard +
                              " divides; use --shard optimizer"
                        : "";
           });
    option(&ShardingOptions::network,
           {.name = "network",
            .valueName = "NETWORK",
            .help = "Connection between ranks, for the cost model",
            .detail = "The network is " + Network::describeTexts() +
                      ", or a file with such a line. bench/network.py in the sources of mtc "
                      "measures one.",
            .defaultText = "shm; nvlink-ib with --target cuda"},
           [](const ShardingOptions &all) -> std::string {
             if (all.network.empty())
               return "";
             if (!Network::parse(all.network))
               return "expected " + Network::describeTexts() + ", or a file with such a line";
             return all.hasRanks() ? "" : "needs --ranks";
           });
  }
};

std::unique_ptr<mlir::Pass> createSetRanks(const ShardingOptions &options);

} // namespace mtc

#endif // MTC_PASSES_SHARDING_SHARDINGOPTIONS_H
