# Recompute the main numbers of this report from labels.csv with base R: Rscript check.R [FOLDER]
# Prints the confusion matrix of each judge, Cohen's kappa of each pair of coders, Krippendorff's alpha (nominal) and,
# by model, the weighted share of each label on the sample, to be compared with results.json. It shares no code with
# annotate and needs no package; where jsonlite is installed, alpha and kappa are compared and the exit status says so.
args <- commandArgs(trailingOnly = TRUE)
folder <- if (length(args)) args[1] else "."
d <- read.csv(file.path(folder, "labels.csv"), check.names = FALSE, colClasses = "character", na.strings = character(0))
columns <- function(prefix) grep(paste0("^", prefix), names(d), value = TRUE)
coders <- columns("coder:"); ties <- columns("tiebreak:"); judges <- columns("judge:")
for (name in coders) {
  stale <- sub("^coder:", "stale:", name)
  if (stale %in% names(d)) d[d[[stale]] == "1", name] <- ""
}
labels <- sort(unique(unlist(d[c(coders, intersect("adjudicated", names(d)))])))
labels <- labels[labels != ""]
reference <- function(i) {  # shares of the labels: final; else strict majority; else split over the labels given
  none <- setNames(numeric(length(labels)), labels)
  if (d$fate[i] == "technical") return(none)
  final <- if ("adjudicated" %in% names(d)) d$adjudicated[i] else ""
  if (final != "") { none[final] <- 1; return(none) }
  given <- unlist(d[i, coders]); given <- given[given != ""]
  if (length(unique(given)) > 1 && length(ties)) { more <- unlist(d[i, ties]); given <- c(given, more[more != ""]) }
  if (!length(given)) return(none)
  share <- none + as.numeric(table(factor(given, levels = labels))) / length(given)
  if (max(share) > 0.5) { none[which.max(share)] <- 1; return(none) }
  share
}
refs <- t(vapply(seq_len(nrow(d)), reference, numeric(length(labels))))
colnames(refs) <- labels
kappa <- function(a, b) {
  keep <- a != "" & b != ""
  p <- prop.table(table(factor(a[keep], labels), factor(b[keep], labels)))
  chance <- sum(rowSums(p) * colSums(p))
  (sum(diag(p)) - chance) / (1 - chance)
}
counts <- t(apply(as.matrix(d[coders]), 1, function(row) as.numeric(table(factor(row[row != ""], levels = labels)))))
if (length(labels) == 1) counts <- t(counts)
m <- rowSums(counts)
counts <- counts[m > 1, , drop = FALSE]; m <- m[m > 1]
n_c <- colSums(counts); n <- sum(n_c)
alpha <- 1 - (sum(rowSums(counts * (m - counts)) / (m - 1))) / (sum(n_c * (n - n_c)) / (n - 1))
found <- c("Krippendorff's alpha, nominal" = alpha)
if (length(coders) > 1) for (pair in combn(coders, 2, simplify = FALSE))
  found[sprintf("Cohen's kappa: %s, %s", sub("^coder:", "", pair[1]), sub("^coder:", "", pair[2]))] <-
    kappa(d[[pair[1]]], d[[pair[2]]])
for (name in names(found)) cat(sprintf("%s: %.12g\n", name, found[name]))
for (judge in judges) {
  cat("\nConfusion matrix,", judge, "(rows) against people (columns)\n")
  print(rowsum(refs, d[[judge]]))
}
weight <- as.numeric(d$weight)
for (judge in judges) for (model in unique(d$model)) {
  use <- d$model == model & rowSums(refs) > 0 & d[[judge]] %in% labels
  if (any(use)) {
    cat("\nShares on the sample, model", model, "with", judge, "\n")
    said <- vapply(labels, function(label) sum(weight[use] * (d[[judge]][use] == label)), 0) / sum(weight[use])
    print(rbind(judge = said, people = colSums(weight[use] * refs[use, , drop = FALSE]) / sum(weight[use])), digits = 12)
  }
}
if (requireNamespace("jsonlite", quietly = TRUE)) {
  checks <- jsonlite::fromJSON(file.path(folder, "results.json"))$checks
  both <- intersect(names(found), checks$quantity)
  off <- abs(found[both] - checks$ours[match(both, checks$quantity)])
  bad <- both[!is.na(off) & off > 1e-9]
  cat(sprintf("\n%d of %d numbers match results.json.\n", length(both) - length(bad), length(both)))
  if (length(bad)) quit(status = 1)
}
